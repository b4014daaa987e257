/** Rate limits: `sys/quotas`. */

import { invalid, notFound } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { trimSlashes } from '../../ground/trim.ts';
import type { Mount } from '../../mounts/mount.ts';
import { isLoginMount } from '../../mounts/mounts.ts';
import { listAnswer } from '../auth/lists.ts';
import { lacking } from '../declaration/lacking.ts';
import { type Core, operation } from '../declaration/operation.ts';
import { choice, declare, duration, flag, type Params, text, texts } from '../declaration/params.ts';
import { wrongType } from '../declaration/weak-values.ts';

const MOST_REQUESTS = 1e9;

/** Number, also as text, which may have a fraction. */
const requests = declare<number, { readonly help: string }>(
  { help: 'Requests that may be sent in an interval: by one address, or by all with `group_by` `none`.' },
  { type: 'string' },
  (value, field) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number !== 'number') throw wrongType(field, 'a number');
    if (number > 0 && number <= MOST_REQUESTS) return number;
    throw invalid(ownWords("'rate' is invalid"), { field });
  },
);

/** Empty means the default. */
const GROUPS = ['ip', 'none', ''] as const;

const settings = {
  rate: requests,
  interval: duration({ help: 'The time that `rate` is for; a second by default.' }),
  block_interval: duration({ help: 'How long an address gets nothing once it asked too often.' }),
  path: text({
    help: 'A mount, a path below one, or the beginning of one with `*`; without it, everything.',
  }),
  role: text({ help: 'Of logins by this role alone.' }),
  inheritable: flag({ help: 'Kept for clients that compare.' }),
  group_by: choice(GROUPS, {
    help: 'Whose requests are counted together: those of one address (`ip`), or all (`none`).',
    unknown: (word) =>
      word.startsWith('entity_')
        ? `group_by can't be ${word}: there are no entities`
        : `'group_by' is invalid: ${word}`,
  }),
} as const satisfies Params;

const limitName = text({ help: 'The name of the limit.', required: true });

const quotasOf = async (core: Core) => (await core.access()).quotas;

export const list = operation({
  route: 'LIST /sys/quotas/rate-limit',
  capability: 'list',
  withoutSecret: true,
  params: {},
  async run({ core }) {
    const { limits } = await (await quotasOf(core)).read();
    return listAnswer(limits.map(({ name }) => name).sort());
  },
});

export const read = operation({
  route: 'GET /sys/quotas/rate-limit/:name',
  capability: 'read',
  withoutSecret: true,
  params: { name: limitName },
  async run({ core }, { name }) {
    const { limits } = await (await quotasOf(core)).read();
    const limit = limits.find((candidate) => candidate.name === name);
    if (limit === undefined) throw notFound(`there is no rate limit "${name}"`, { field: 'name' });
    const { path, inheritable = path === '' } = limit;
    const isOfMount =
      FAMILY_OWN.includes(path) || (await core.mounts.list()).some((mount) => mount.path === path);
    return {
      data: {
        block_interval: limit.block_interval,
        group_by: limit.group_by,
        inheritable,
        interval: limit.interval,
        name,
        path: isOfMount ? `${path}/` : path,
        rate: limit.rate,
        role: limit.role,
        type: 'rate-limit',
      },
    };
  },
});

export const write = operation({
  route: 'POST /sys/quotas/rate-limit/:name',
  capability: 'update',
  params: {
    name: limitName,
    ...settings,
    secondary_rate: lacking(
      'Not here.',
      'no requests are counted by entity, so that there are none beside them',
    ),
  },
  async run({ core }, { name, path, role, group_by, secondary_rate: _none, ...change }) {
    const quotas = await quotasOf(core);
    const before = (await quotas.read()).limits.find((limit) => limit.name === name);
    const wanted = trimSlashes(path ?? before?.path ?? '');
    const counted = pathOf(wanted, role ?? before?.role ?? '', await core.mounts.list());
    const limit = { ...change, group_by: group_by === '' ? 'ip' : group_by, path: counted } as const;
    await quotas.write(name, role === undefined ? limit : { ...limit, role: role.toLowerCase() });
    return {};
  },
});

/** Paths that have no mount here, but one in Vault. */
const FAMILY_OWN: readonly string[] = ['sys', 'auth/token'];
/** Paths that have no mount, but can be limited. */
const OWN = [...FAMILY_OWN, 'api/v2'];

/**
 * Normalizes a path like those of requests: names of users and roles are in lower case.
 * @throws `invalid` for an unknown path, which would limit nothing
 */
function pathOf(path: string, role: string, mounts: readonly Mount[]): string {
  if (path === '' && role === '') return path;
  const isWithin = (base: string): boolean =>
    path === base || path.startsWith(`${base}/`) || path === `${base}*`;
  const mount = mounts.find((candidate) => isWithin(candidate.path));
  if (mount === undefined && !OWN.some(isWithin)) {
    throw invalid(`invalid mount path "${path}/"`, { field: 'path', hint: 'give the path of a mount' });
  }
  if (role !== '' && (mount === undefined || mount.path !== path || !isLoginMount(mount))) {
    throw invalid(ownWords('a role needs the path of a login method'), { field: 'role' });
  }
  if (mount === undefined || !isLoginMount(mount)) return path;
  return mount.path + path.slice(mount.path.length).toLowerCase();
}

export const remove = operation({
  route: 'DELETE /sys/quotas/rate-limit/:name',
  capability: 'delete',
  params: { name: limitName },
  async run({ core }, { name }) {
    await (await quotasOf(core)).delete(name);
    return {};
  },
});

export const readConfig = operation({
  route: 'GET /sys/quotas/config',
  capability: 'read',
  withoutSecret: true,
  params: {},
  run: async ({ core }) => ({ data: (await (await quotasOf(core)).read()).config }),
});

export const configure = operation({
  route: 'POST /sys/quotas/config',
  capability: 'update',
  params: {
    enable_rate_limit_response_headers: flag({ help: 'Tell in each answer how much of the limit is left.' }),
    enable_rate_limit_audit_logging: flag({ help: 'Record what is refused for its rate.' }),
    rate_limit_exempt_paths: texts({
      help: 'Paths that no limit is about; `*` at the end for all that begin so.',
    }),
    absolute_rate_limit_exempt_paths: texts({ help: 'More of them: there are no namespaces.' }),
  },
  async run({ core }, change) {
    await (await quotasOf(core)).configure(change);
    return {};
  },
});
