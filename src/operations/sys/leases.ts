/** Leases of tokens: `sys/leases`. Nothing else has leases. */

import { issuedMs } from '../../access/token.ts';
import { printGoTime } from '../../ground/clock.ts';
import { type CofferError, invalid, notFound, ownWords } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { trimSlashes } from '../../ground/trim.ts';
import { listAnswer, tidying } from '../auth/named-objects.ts';
import { tokenDetails } from '../auth/token-answers.ts';
import { countMissing, FOR_GOOD } from '../declaration/deleting.ts';
import { duration } from '../declaration/duration.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { computing, done, type Runner, resultOf } from '../declaration/operation.ts';
import { flag, text } from '../declaration/params.ts';

const leaseId = text({ help: 'ID of the lease.', default: '' });

const prefixParam = text({
  help: 'Path at which the tokens were issued, e.g. auth/approle for all logins with this method. Tokens that never expire are not revoked.',
  required: true,
  cli: { positional: true, metavar: 'PATH' },
});

const sync = flag({ help: 'Accepted for compatibility; revocation is always synchronous.' });

/** Returns the lease ID. The one in the path takes precedence, because policies check the path. */
function leaseIn(values: { readonly lease_id: string; readonly url_lease_id: string }): string {
  const wanted = values.url_lease_id || values.lease_id;
  if (wanted === '') throw nameless();
  return wanted;
}

const nameless = (): CofferError => invalid(ownWords('lease_id must be specified'), { field: 'lease_id' });

export const lookup = accessOperation({
  route: 'POST /sys/leases/lookup',
  ...computing,
  params: { lease_id: leaseId },
  async run(call, { lease_id: id }) {
    if (id === '') throw nameless();
    const found = await call.access.leases.find(id);
    if (found === undefined) throw invalid(ownWords('invalid lease'), { field: 'lease_id' });
    const details = tokenDetails(found, '', call.core.clock.now());
    return {
      data: {
        expire_time: details.expire_time,
        id,
        issue_time: printGoTime(issuedMs(found.token)),
        last_renewal: details.last_renewal ?? null,
        path: found.token.path,
        renewable: details.renewable ?? false,
        ttl: details.ttl,
      },
    };
  },
});

export const list = accessOperation({
  route: ['LIST /sys/leases/lookup/:prefix+', 'LIST /sys/leases/lookup'],
  capability: 'sudo',
  withoutSecret: true,
  params: {
    prefix: text({
      help: 'Path at which the tokens were issued, or the beginning of this path.',
      default: '',
    }),
  },
  async run(call, { prefix }) {
    return listAnswer(await call.access.leases.list(prefix));
  },
});

/** Refuses to renew leases: tokens are renewed as such. */
export const renew = accessOperation({
  route: [
    'POST /sys/leases/renew',
    'POST /sys/leases/renew/:url_lease_id+',
    'POST /sys/renew/:url_lease_id+',
  ],
  withoutSecret: true,
  params: {
    lease_id: leaseId,
    url_lease_id: leaseId,
    increment: duration({ help: 'New TTL of the lease.' }),
  },
  async run(call, values): Promise<never> {
    const wanted = leaseIn(values);
    const isThere = (await call.access.leases.find(wanted)) !== undefined;
    throw invalid(
      isThere ? ownWords('tokens cannot be renewed through this endpoint') : ownWords('lease not found'),
      {
        field: 'lease_id',
        hint: 'renew a token with "coffer token renew"',
      },
    );
  },
});

export const revoke = accessOperation({
  route: [
    'POST /sys/leases/revoke',
    'POST /sys/leases/revoke/:url_lease_id+',
    'POST /sys/revoke/:url_lease_id+',
  ],
  withoutSecret: true,
  params: { lease_id: leaseId, url_lease_id: leaseId, sync },
  run: done(async (call, values) => {
    const wanted = leaseIn(values);
    const { leases } = call.access;
    if ((await leases.find(wanted)) !== undefined) await leases.revoke(wanted);
  }),
});

/**
 * Requires the login method of a path: a mistyped one would revoke nothing. Paths outside `auth/` are not checked.
 * @throws `not-found`
 */
async function requireMethod(prefix: unknown, runner: Runner): Promise<void> {
  const [first, ...rest] = trimSlashes(String(prefix)).split('/');
  if (first !== 'auth' || rest.length === 0) return;
  const listed = resultOf(await runner.run('auth list', {}));
  const path = `${rest.join('/')}/`;
  const isThere = Object.keys(isObject(listed) ? listed : {}).some(
    (method) => path.startsWith(method) || method.startsWith(path),
  );
  if (!isThere)
    throw notFound(`no login method at or below "auth/${path}"`, {
      field: 'prefix',
      hint: 'list the login methods with "coffer auth list"',
    });
}

/**
 * Revokes all tokens below a path.
 * @see docs/decisions/0185
 */
export const revokePrefix = accessOperation({
  route: [
    'POST /sys/leases/revoke-prefix/:prefix+',
    'POST /sys/leases/revoke-force/:prefix+',
    'POST /sys/revoke-prefix/:prefix+',
    'POST /sys/revoke-force/:prefix+',
  ],
  capability: 'sudo',
  withoutSecret: true,
  params: { prefix: prefixParam, sync },
  cli: {
    acts: true,
    confirm: async ({ prefix }) =>
      `Revoke all tokens issued at or below ${trimSlashes(String(prefix))}/ (except those that never expire) and their child tokens? ${FOR_GOOD}`,
    foresee: ({ prefix }, runner) => requireMethod(prefix, runner),
    unchanged: ({ prefix }, runner) => countMissing(requireMethod(prefix, runner)),
    done: ({ prefix }, _data, _existing, missing) =>
      missing === 1
        ? `No login method ${trimSlashes(String(prefix))}/; nothing was revoked.`
        : `Revoked all tokens issued at or below ${trimSlashes(String(prefix))}/, except those that never expire.`,
    examples: {
      'coffer token revoke-prefix auth/approle':
        'Revoke all tokens of a login method, including batch tokens',
    },
  },
  run: done(({ access }, { prefix }) => access.leases.revoke(prefix)),
});

export const tidy = tidying('POST /sys/leases/tidy');

/** Counts the stored service tokens. */
export const countTokens = accessOperation({
  route: 'GET /sys/internal/counters/tokens',
  withoutSecret: true,
  async run({ access }) {
    const total = await access.tokens.count();
    return { data: { counters: { service_tokens: { total } } } };
  },
});
