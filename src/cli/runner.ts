import { type Branch, catalogue, isEntry } from '../operations/catalogue.ts';
import type { Operation, Outcome, Target } from '../operations/declaration/operation.ts';

/** Where operations run: the local store, or a server. */
export interface Runner {
  /**
   * @param raw wire name → value, not yet parsed.
   * @param mount default: the one that the settings name.
   */
  run(
    operation: Operation,
    raw: Readonly<Record<string, unknown>>,
    mount?: string,
  ): Promise<Outcome<unknown>>;
  close(): void;
}

/** The face of a runner that operations see, for looking up names and counting before a question. */
export function targetOf(runner: Runner, organization: string | undefined): Target {
  return {
    async run(path, values) {
      const outcome = await runner.run(await loadOperation(path), values);
      return outcome.data;
    },
    ...(organization === undefined ? {} : { organization }),
  };
}

/** The declaration at a path of the catalogue, e.g. `transit keys list`. */
export async function loadOperation(path: string): Promise<Operation> {
  let node: Branch[string] | undefined = catalogue;
  for (const word of path.split(' ')) {
    if (node === undefined || isEntry(node)) break;
    node = Object.hasOwn(node, word) ? node[word] : undefined;
  }
  if (node === undefined || !isEntry(node)) throw new Error(`no operation "${path}" in the catalogue`);
  const { declaration } = await node.load();
  return declaration;
}
