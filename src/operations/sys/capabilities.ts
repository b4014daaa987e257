import { invalid, ownWords } from '../../ground/errors.ts';
import { turn } from '../../ground/pause.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { atTopToo, computing, type Outcome } from '../declaration/operation.ts';
import { text, texts, type ValuesOf } from '../declaration/params.ts';

const capabilityParams = {
  paths: texts({ help: 'API paths to check, as in a policy, e.g. transit/encrypt/orders.', default: [] }),
  path: texts({ help: 'Deprecated alias of `paths`.', default: [] }),
};

/** Number of paths processed per event loop turn, because each is compared with every rule. */
const PATHS_IN_A_TURN = 100;

type CapabilitiesByPath = Readonly<Record<string, readonly string[]>>;

/**
 * Returns the capabilities by path; for a single path also as `capabilities`, and all of it at the top level too, for
 * old clients.
 *
 * @throws `invalid` if no path is given
 */
export async function printCapabilities(
  values: ValuesOf<typeof capabilityParams>,
  capabilities: (path: string) => readonly string[],
): Promise<Outcome<CapabilitiesByPath>> {
  const paths = values.paths.length > 0 ? values.paths : values.path;
  const [first] = paths;
  if (first === undefined) throw invalid(ownWords('paths must be supplied'), { field: 'paths' });
  const entries: (readonly [string, readonly string[]])[] = [];
  for (const [index, path] of paths.entries()) {
    if (index % PATHS_IN_A_TURN === PATHS_IN_A_TURN - 1) await turn();
    entries.push([path, capabilities(path)]);
  }
  const byPath = Object.fromEntries(entries);
  return atTopToo(paths.length === 1 ? { capabilities: capabilities(first), ...byPath } : byPath);
}

export const ofToken = accessOperation({
  route: 'POST /sys/capabilities',
  ...computing,
  params: { ...capabilityParams, token: text({ help: 'Token to check.', default: '' }) },
  async run({ access }, values) {
    if (values.token === '') throw invalid(ownWords('no token found'), { field: 'token' });
    const identity = await access.identify({ token: values.token });
    if (identity === undefined) throw invalid(ownWords('invalid token'), { field: 'token' });
    return printCapabilities(values, (path) => identity.acl.capabilities(path));
  },
});

export const ofAccessor = accessOperation({
  route: 'POST /sys/capabilities-accessor',
  ...computing,
  params: { ...capabilityParams, accessor: text({ help: 'Accessor of the token.', default: '' }) },
  async run({ access }, values) {
    if (values.accessor === '') throw invalid(ownWords('missing accessor'), { field: 'accessor' });
    const identity = await access.identify({ accessor: values.accessor });
    if (identity === undefined) throw invalid(ownWords('invalid accessor'), { field: 'accessor' });
    return printCapabilities(values, (path) => identity.acl.capabilities(path));
  },
});

export const ofSelf = accessOperation({
  route: 'POST /sys/capabilities-self',
  ...computing,
  params: capabilityParams,
  async run({ access, caller: { accessor, token = '' } }, values) {
    if (accessor === undefined) return printCapabilities(values, () => ['root']);
    const identity = await access.identify(accessor === '' ? { token } : { accessor });
    if (identity === undefined) throw invalid(ownWords('invalid token'));
    return printCapabilities(values, (path) => identity.acl.capabilities(path));
  },
});
