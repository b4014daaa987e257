import type { Operation } from '../../operations/declaration/operation.ts';
import { routesOf } from '../../operations/declaration/route.ts';
import { VaultEndpoints } from '../../operations/pipeline/endpoints.ts';
import type { ServedRoute } from '../../operations/routes.ts';
import { loadOperation } from '../../operations/runner.ts';

/** Operation with everything that a request for it derives from its declaration. */
export interface DoorOperation {
  readonly operation: Operation;
  readonly routes: readonly ServedRoute[];
  /** Endpoints of these routes only. */
  readonly endpoints: VaultEndpoints;
  /** Whether it uses a key. Reading does not count as a use, and does not keep the store open. */
  readonly isUse: boolean;
}

/** Operations that a protocol has requested, by their words in the catalogue; each is looked up once. */
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
