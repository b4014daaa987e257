import type { Operation } from '../../operations/declaration/operation.ts';
import { pathParams, routesOf } from '../../operations/declaration/route.ts';
import { type Endpoint, VaultEndpoints } from '../../operations/pipeline/endpoints.ts';
import type { StoreLook } from '../../operations/pipeline/store-look.ts';
import type { ServedRoute } from '../../operations/routes.ts';
import { loadOperation } from '../../operations/runner.ts';

/** Operation with everything that a request for it derives from its declaration. */
export interface DoorOperation {
  readonly endpoints: OperationEndpoints;
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
    const isUse = capability !== 'read' && capability !== 'list';
    const found = { endpoints: new OperationEndpoints(words, operation), isUse };
    this.#known.set(words, found);
    return found;
  }
}

/** Maximum number of cached endpoints, more than a protocol has offered keys. */
const MOST_ENDPOINTS = 512;

/**
 * Endpoints of one operation. They are cached while the store does not change: programs use the same few keys again and
 * again.
 */
class OperationEndpoints {
  readonly #routes: readonly ServedRoute[];
  readonly #params: readonly string[];
  /** Endpoints of these routes only. */
  readonly #endpoints: VaultEndpoints;
  /** Look that the cached endpoints were resolved at, and they by their mount and the parameters of the path. */
  #look: StoreLook | undefined;
  readonly #known = new Map<string, Endpoint>();

  constructor(words: string, operation: Operation) {
    this.#routes = routesOf(operation).map((route) => ({ name: words, summary: '', operation, route }));
    this.#params = [...new Set(this.#routes.flatMap(({ route }) => pathParams(route)))];
    this.#endpoints = new VaultEndpoints(this.#routes);
  }

  /**
   * Returns the endpoint for the given parameters below a mount.
   * @param raw wire name → JSON value
   */
  at(look: StoreLook, mount: string, raw: Readonly<Record<string, unknown>>): Endpoint {
    if (look !== this.#look) {
      this.#known.clear();
      this.#look = look;
    }
    let name = JSON.stringify(mount);
    for (const param of this.#params) name += `,${JSON.stringify(raw[param])}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const endpoint = this.#endpoints.of(look, this.#routeFor(raw), mount, raw);
    if (this.#known.size >= MOST_ENDPOINTS) this.#known.clear();
    this.#known.set(name, endpoint);
    return endpoint;
  }

  /** Returns the first route whose parameters are all given. An endpoint without one of them would not be found. */
  #routeFor(raw: Readonly<Record<string, unknown>>): ServedRoute {
    const [only, ...others] = this.#routes;
    if (only !== undefined && others.length === 0) return only;
    const fitting = this.#routes.find(({ route }) =>
      route.parts.every((part) => 'text' in part || part.optional || raw[part.param] !== undefined),
    );
    if (fitting === undefined) throw new Error('a parameter of the path is missing');
    return fitting;
  }
}
