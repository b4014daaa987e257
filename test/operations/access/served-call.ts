import { idOf } from '../../../src/access/access.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { openCore } from '../../../src/operations/core.ts';
import {
  type Caller,
  type Core,
  type Operation,
  type Outcome,
  owner,
  resultOf,
} from '../../../src/operations/declaration/operation.ts';
import { type Params, parseValues } from '../../../src/operations/declaration/params.ts';
import { FakeClock } from '../../access/room.ts';
import { memoryStore } from '../../store/memory-store.ts';

/** A core over a fresh store in memory, and operations run on it as by a server or the owner. */
export class ServedCalls {
  readonly clock = new FakeClock();
  readonly core: Core;

  private constructor(core: (clock: FakeClock) => Core) {
    this.core = core(this.clock);
  }

  static async open(): Promise<ServedCalls> {
    const store = await memoryStore();
    return new ServedCalls((clock) => openCore(store, { clock, random: systemRandom }));
  }

  /** The whole outcome of an operation. `by` is a token; without it the owner calls. */
  async outcome<P extends Params, D>(
    declaration: Operation<P, D>,
    raw: Readonly<Record<string, unknown>>,
    by?: string,
  ): Promise<Outcome<D>> {
    const caller = by === undefined ? owner : await this.#caller(by);
    const { values } = parseValues(declaration.params, raw);
    return declaration.run({ core: this.core, caller, mount: 'transit' }, values);
  }

  /** What it shows: `data`, or `auth` for operations that issue tokens. */
  async result<P extends Params, D>(
    declaration: Operation<P, D>,
    raw: Readonly<Record<string, unknown>>,
    by?: string,
  ): Promise<D> {
    const result = resultOf(await this.outcome(declaration, raw, by));
    if (result === undefined) throw new Error('nothing was answered');
    return result;
  }

  async #caller(token: string): Promise<Caller> {
    const access = await this.core.access();
    const identity = await access.authenticate(token);
    if (identity === undefined) throw new Error('the token does not hold');
    return {
      id: idOf(identity),
      accessor: identity.accessor,
      token,
      may: (path, capability) => identity.acl.allows(path, capability),
      reaches: (path) => identity.acl.reaches(`${path}/`),
    };
  }
}
