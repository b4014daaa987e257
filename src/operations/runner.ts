import { withoutUndefined } from '../ground/objects.ts';
import { DEFAULT_MOUNT } from '../mounts/paths.ts';
import type { Store, View } from '../store/store.ts';
import { catalogue } from './catalogue.ts';
import { type CatalogueBranch, isEntry } from './catalogue-entry.ts';
import {
  type Call,
  type Core,
  type Operation,
  type Outcome,
  owner,
  type Runner,
} from './declaration/operation.ts';
import { type Params, parseValues } from './declaration/params.ts';

/**
 * Runs an operation: parses the values, then calls the handler. The outcome may have undefined members, for frontends
 * that print it as JSON, which omits them.
 * @param raw wire name → JSON value, or text from a URL or a flag
 * @throws `invalid` naming the first parameter that is missing or of the wrong type; and errors of the operation
 */
export const runToPrint = <P extends Params, D>(
  call: Call,
  operation: Operation<P, D>,
  raw: Readonly<Record<string, unknown>>,
): Promise<Outcome<D>> => operation.run({ ...call, sent: raw }, parseValues(operation.params, raw).values);

/** Runs an operation as `runToPrint`. The outcome has no members that are undefined, as none come over HTTP. */
export const run = async <P extends Params, D>(
  call: Call,
  operation: Operation<P, D>,
  raw: Readonly<Record<string, unknown>>,
): Promise<Outcome<D>> => withoutUndefined(await runToPrint(call, operation, raw));

export interface RunnerOptions {
  /** Default transit mount, without slashes at the ends; default `transit`. */
  readonly mount?: string | undefined;
  /** Organization for operations whose path has none. */
  readonly organization?: string | undefined;
}

/** Creates a read-only store that shows a single view. */
const stillAt = (view: View, store: Store): Store => ({
  id: store.id,
  read: async (read) => read(view),
  transact: () => Promise.reject(new TypeError('this is a read-only snapshot')),
  revision: () => store.revision(),
  limitCache: () => undefined,
  close: () => undefined,
});

/** Creates a runner on an open store, as its owner, who needs no token. Closing it closes the store. */
export function ownerRunner(core: Core, options: RunnerOptions = {}): Runner {
  const { mount: ownMount = DEFAULT_MOUNT, organization } = options;
  const callOf = (operation: Operation, mount: string): Call => ({
    core,
    caller: owner,
    mount: operation.mount === undefined ? undefined : mount,
  });
  return {
    async run(operation, raw, mount = ownMount) {
      const declaration = typeof operation === 'string' ? await loadOperation(operation) : operation;
      return run(callOf(declaration, mount), declaration, raw);
    },
    async at(asked) {
      const { findByPath } = await import('./by-path.ts');
      const { match, mount } = await findByPath(core, asked);
      const { operation } = match.served;
      // Some transit operations are also below `sys/`, and need no mount.
      const call = callOf(operation, mount?.path ?? '');
      return run(call, operation, { ...asked.parameters, ...match.captures });
    },
    async snapshot(work) {
      const { openCore } = await import('./core.ts');
      const { clock, random, store } = core;
      return store.read((view) => {
        return work(ownerRunner(openCore(stillAt(view, store), { clock, random }), options));
      });
    },
    organization,
    close: () => core.store.close(),
  };
}

/** Loads the declaration at a place of the catalogue, e.g. `transit keys list`. */
export async function loadOperation(words: string): Promise<Operation> {
  let node: CatalogueBranch[string] | undefined = catalogue;
  for (const word of words.split(' ')) {
    if (node === undefined || isEntry(node)) break;
    node = Object.hasOwn(node, word) ? node[word] : undefined;
  }
  if (node === undefined || !isEntry(node)) throw new Error(`no operation "${words}" in the catalogue`);
  const { declaration } = await node.load();
  return declaration;
}
