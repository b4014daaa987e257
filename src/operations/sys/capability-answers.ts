import { invalid } from '../../errors.ts';
import type { Outcome } from '../operation.ts';
import { texts, type ValuesOf } from '../params.ts';

export const capabilityParams = {
  paths: texts({ help: 'Paths as in policies, e.g. transit/encrypt/orders.', default: [] }),
  path: texts({ help: 'Older name of `paths`.', default: [] }),
};

type Capabilities = Readonly<Record<string, readonly string[]>>;

/**
 * The capabilities by path; for a single path also as `capabilities`, and all of it at the top level too, for old
 * clients.
 *
 * @throws `invalid` when no path is given.
 */
export function printCapabilities(
  values: ValuesOf<typeof capabilityParams>,
  capabilities: (path: string) => readonly string[],
): Outcome<Capabilities> {
  const paths = values.paths.length > 0 ? values.paths : values.path;
  const [first] = paths;
  if (first === undefined) throw invalid('paths must be supplied', { field: 'paths' });
  const byPath = Object.fromEntries(paths.map((path) => [path, capabilities(path)]));
  const data = paths.length === 1 ? { capabilities: capabilities(first), ...byPath } : byPath;
  return { data, topLevel: data };
}
