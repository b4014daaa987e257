import type { Operation } from '../../operations/declaration/operation.ts';
import { routesOf } from '../../operations/declaration/route.ts';
import { VaultEndpoints } from '../../operations/pipeline/endpoints.ts';
import type { ServedRoute } from '../../operations/routes.ts';
import { loadOperation } from '../../operations/runner.ts';

/** An operation with all that has to be worked out of its declaration to ask for it. */
export interface DoorOperation {
  readonly operation: Operation;
  readonly routes: readonly ServedRoute[];
  /** The paths of these routes, and no others. */
  readonly endpoints: VaultEndpoints;
  /** It uses a key: whoever only looks does not keep the store open. */
  readonly isUse: boolean;
}

/** The operations that a door has asked for, by their words in the catalogue; each is looked up once. */
export class DoorOperations {
  readonly #known = new Map<string, DoorOperation>();

  known(words: string): DoorOperation | undefined {
    return this.#known.get(words);
  }

  async load(words: string): Promise<DoorOperation> {
    const operation = await loadOperation(words);
    const { capability } = operation;
    const routes = routesOf(operation).map((route) => ({ name: words, summary: '', operation, route }));
    const isUse = capability !== 'read' && capability !== 'list';
    const found = { operation, routes, endpoints: new VaultEndpoints(routes), isUse };
    this.#known.set(words, found);
    return found;
  }
}
