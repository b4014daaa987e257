import { invalid } from '../../ground/errors.ts';
import { turn } from '../../ground/pause.ts';
import type { Outcome } from '../declaration/operation.ts';
import { texts, type ValuesOf } from '../declaration/params.ts';

export const capabilityParams = {
  paths: texts({ help: 'Paths as in policies, e.g. transit/encrypt/orders.', default: [] }),
  path: texts({ help: 'Older name of `paths`.', default: [] }),
};

/** Each path is compared with every rule: of many paths, so many are looked at in one go before others have their turn. */
const PATHS_IN_A_TURN = 100;

type Capabilities = Readonly<Record<string, readonly string[]>>;

/**
 * The capabilities by path; for a single path also as `capabilities`, and all of it at the top level too, for old
 * clients.
 *
 * @throws `invalid` when no path is given.
 */
export async function printCapabilities(
  values: ValuesOf<typeof capabilityParams>,
  capabilities: (path: string) => readonly string[],
): Promise<Outcome<Capabilities>> {
  const paths = values.paths.length > 0 ? values.paths : values.path;
  const [first] = paths;
  if (first === undefined) throw invalid('paths must be supplied', { field: 'paths' });
  const entries: (readonly [string, readonly string[]])[] = [];
  for (const [index, path] of paths.entries()) {
    if (index % PATHS_IN_A_TURN === PATHS_IN_A_TURN - 1) await turn();
    entries.push([path, capabilities(path)]);
  }
  const byPath = Object.fromEntries(entries);
  const data = paths.length === 1 ? { capabilities: capabilities(first), ...byPath } : byPath;
  return { data, topLevel: data };
}
