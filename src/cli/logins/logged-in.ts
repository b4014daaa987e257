import { CofferError, expected, invalid, unavailable, unsupported } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Outcome, Runner } from '../../operations/declaration/operation.ts';
import { tokenIn } from '../runner-remote.ts';

/** Result of a login. */
export interface LoggedIn {
  readonly token: string;
  readonly expiresMs: number | undefined;
  readonly policies: readonly string[];
  /** Members of `auth` in the response of the server; of a token that the user brings, those of its lookup. */
  readonly told: Readonly<Record<string, unknown>>;
  /** The response as of a login, whose members are in `auth`. */
  readonly outcome: Outcome<unknown>;
}

/** Returns the result of a login with a method. */
export function madeNow(outcome: Outcome<unknown>): LoggedIn {
  const { auth } = outcome;
  if (!isObject(auth))
    throw unavailable('unexpected response of the server: it has no token', {
      hint: 'check that the path is a login method',
    });
  const { client_token: token, lease_duration: seconds, policies } = auth;
  if (isObject(auth['mfa_requirement'])) {
    throw unsupported('the server asks for a second factor', {
      hint: 'log in with "vault login" or "bao login", then pass the token to "coffer login token=-"',
    });
  }
  if (typeof token !== 'string' || token === '')
    throw unavailable('unexpected response of the server: it has no token');
  const lasts = typeof seconds === 'number' && seconds > 0;
  return {
    token: tokenIn(token) ?? '',
    expiresMs: lasts ? Date.now() + seconds * 1000 : undefined,
    policies: Array.isArray(policies) ? policies.map(String) : [],
    told: auth,
    outcome,
  };
}

/**
 * Looks up a token that the user brings.
 * @throws `denied` if the server does not know it
 */
export async function broughtAlong(runner: Runner, token: string): Promise<LoggedIn> {
  if (token === '') throw invalid('the token is empty', { field: 'token' });
  const { data } = await runner
    .at({ method: 'GET', path: 'auth/token/lookup-self', parameters: {} })
    .catch((error: unknown) => {
      expected(error, 'denied');
      throw new CofferError('denied', 'the server rejected the token: unknown or expired', {
        hint: 'check that it has not expired and belongs to this server',
        cause: error,
      });
    });
  const details = isObject(data) ? data : {};
  const { expire_time: ends, policies, accessor, meta, ttl, renewable } = details;
  // As `vault login` with a token prints it.
  const auth = {
    client_token: token,
    accessor,
    policies,
    token_policies: policies,
    metadata: meta ?? null,
    lease_duration: ttl,
    renewable,
  };
  return {
    token,
    expiresMs: typeof ends === 'string' ? Date.parse(ends) || undefined : undefined,
    policies: Array.isArray(policies) ? policies.map(String) : [],
    told: { client_token: token, ...details },
    outcome: { auth },
  };
}
