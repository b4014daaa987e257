/** Rate limits: `sys/quotas`. */

import { invalid, notFound, ownWords } from '../../ground/errors.ts';
import { trimSlashes } from '../../ground/trim.ts';
import type { Mount } from '../../mounts/mount.ts';
import { isLoginMount } from '../../mounts/mounts.ts';
import { listAnswer } from '../auth/named-objects.ts';
import { duration } from '../declaration/duration.ts';
import { lacking } from '../declaration/lacking.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { done } from '../declaration/operation.ts';
import { choice, declare, flag, type Params, text, texts } from '../declaration/params.ts';
import { wrongType } from '../declaration/weak-values.ts';

const MOST_REQUESTS = 1e9;

/** Number, which may have a fraction; also accepted as text. */
const requests = declare<number, { readonly help: string }>(
  {
    help: 'Number of requests that each client address can make in an interval; with `group_by` `none`, that all clients together can make.',
  },
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
  interval: duration({ help: 'Interval that `rate` applies to. Default: 1s.' }),
  block_interval: duration({ help: 'How long to block an address that exceeds the rate.' }),
  path: text({
    help: 'Mount, path or path prefix (with *) to limit. Default: all paths.',
  }),
  role: text({ help: 'Limit only logins with this role.' }),
  inheritable: flag({ help: 'Stored for compatibility; has no effect.' }),
  group_by: choice(GROUPS, {
    help: 'How requests are counted: per client address (`ip`), or all together (`none`).',
    unknown: (word) =>
      word.startsWith('entity_')
        ? `group_by cannot be ${word}: entities are not supported`
        : `'group_by' is invalid: ${word}`,
  }),
} as const satisfies Params;

const limitName = text({ help: 'Name of the rate limit.', required: true });

export const list = accessOperation({
  route: 'LIST /sys/quotas/rate-limit',
  withoutSecret: true,
  async run({ access }) {
    const { limits } = await access.quotas.read();
    return listAnswer(limits.map(({ name }) => name).sort());
  },
});

export const read = accessOperation({
  route: 'GET /sys/quotas/rate-limit/:name',
  withoutSecret: true,
  params: { name: limitName },
  async run({ core, access }, { name }) {
    const { limits } = await access.quotas.read();
    const limit = limits.find((candidate) => candidate.name === name);
    if (limit === undefined) throw notFound(`no rate limit "${name}"`, { field: 'name' });
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

export const write = accessOperation({
  route: 'POST /sys/quotas/rate-limit/:name',
  params: {
    name: limitName,
    ...settings,
    secondary_rate: lacking('Not supported.', 'requests are not counted by entity'),
  },
  run: done(
    async ({ core, access }, { name, path = '', role = '', group_by, secondary_rate: _none, ...rest }) => {
      const limited = {
        path: pathOf(trimSlashes(path), role, await core.mounts.list()),
        role: role.toLowerCase(),
      };
      await access.quotas.write(name, { ...rest, ...limited, group_by: group_by === '' ? 'ip' : group_by });
    },
  ),
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
    throw invalid(`invalid mount path "${path}/"`, { field: 'path', hint: 'use the path of a mount' });
  }
  if (role !== '' && (mount === undefined || mount.path !== path || !isLoginMount(mount))) {
    throw invalid(ownWords('a role needs the path of a login method'), { field: 'role' });
  }
  if (mount === undefined || !isLoginMount(mount)) return path;
  return mount.path + path.slice(mount.path.length).toLowerCase();
}

export const remove = accessOperation({
  route: 'DELETE /sys/quotas/rate-limit/:name',
  params: { name: limitName },
  run: done(({ access }, { name }) => access.quotas.delete(name)),
});

export const readConfig = accessOperation({
  route: 'GET /sys/quotas/config',
  withoutSecret: true,
  run: async ({ access }) => ({ data: (await access.quotas.read()).config }),
});

export const configure = accessOperation({
  route: 'POST /sys/quotas/config',
  params: {
    enable_rate_limit_response_headers: flag({ help: 'Add rate limit headers to responses.' }),
    enable_rate_limit_audit_logging: flag({ help: 'Record rejected requests in the audit log.' }),
    rate_limit_exempt_paths: texts({
      help: 'Paths exempt from rate limits; a trailing * matches a prefix.',
    }),
    absolute_rate_limit_exempt_paths: texts({
      help: 'More paths exempt from rate limits, in addition to `rate_limit_exempt_paths`.',
    }),
  },
  run: done(({ access }, change) => access.quotas.configure(change)),
});
