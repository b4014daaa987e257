import { DEFAULT_MOUNT } from '../mounts/paths.ts';
import { type Branch, catalogue, isEntry } from './catalogue.ts';
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
 * Running an operation: parse, then run. Every edge does it so.
 * @param raw wire name → JSON value, or text from a URL or a flag.
 * @throws `invalid` naming the first parameter that is missing or of the wrong type; and what the operation throws.
 */
export const run = async <P extends Params, D>(
  call: Call,
  operation: Operation<P, D>,
  raw: Readonly<Record<string, unknown>>,
): Promise<Outcome<D>> => operation.run(call, parseValues(operation.params, raw).values);

export interface RunnerOptions {
  /** The transit mount of operations for which none is named, without slashes at the ends; default `transit`. */
  readonly mount?: string | undefined;
  /** For operations whose path has no organization. */
  readonly organization?: string | undefined;
}

/** Runs operations on an opened store, for whoever can open it: its owner, who needs no token. Closing it closes the store. */
export function ownerRunner(
  core: Core,
  { mount: ownMount = DEFAULT_MOUNT, organization }: RunnerOptions = {},
): Runner {
  return {
    async run(operation, raw, mount = ownMount) {
      const declaration = typeof operation === 'string' ? await loadOperation(operation) : operation;
      const place = declaration.mount === undefined ? {} : { mount };
      return run({ core, caller: owner, ...place }, declaration, raw);
    },
    async at(asked) {
      const { findByPath } = await import('./by-path.ts');
      const { match, mount } = await findByPath(core, asked);
      const call = { core, caller: owner, ...(mount === undefined ? {} : { mount: mount.path }) };
      return run(call, match.served.operation, { ...asked.parameters, ...match.captures });
    },
    organization,
    close: () => core.store.close(),
  };
}

/** The declaration at a place of the catalogue, e.g. `transit keys list`. */
export async function loadOperation(words: string): Promise<Operation> {
  let node: Branch[string] | undefined = catalogue;
  for (const word of words.split(' ')) {
    if (node === undefined || isEntry(node)) break;
    node = Object.hasOwn(node, word) ? node[word] : undefined;
  }
  if (node === undefined || !isEntry(node)) throw new Error(`no operation "${words}" in the catalogue`);
  const { declaration } = await node.load();
  return declaration;
}
