import type { KeyCheck } from '../../access/login/login-token.ts';
import { invalid, ownWords } from '../../ground/errors.ts';
import { type TokenAuth, tokenAuth } from '../auth/token-answers.ts';
import { duration } from '../declaration/duration.ts';
import { type AccessCall, accessOperation } from '../declaration/mount-operations.ts';
import { type Call, type Outcome, warned } from '../declaration/operation.ts';

import {
  accessorParam,
  findByAccessor,
  findOwn,
  findToken,
  refuseBatch,
  type TokenTarget,
  tokenId,
} from './token-target.ts';

const incrementParam = duration({
  help: 'New time to live, counted from now, e.g. 24h. Default: the time to live that the token was created with.',
});

/**
 * Renews a token, with Vault's response: the `auth` object, which contains the token text only if the caller gave it.
 */
async function renewToken(call: AccessCall, target: TokenTarget, increment = 0): Promise<Outcome<TokenAuth>> {
  refuseBatch(target.record.token, 'renewed');
  const renewed = await call.access.tokens.renew(target.record.accessor, increment, checkOf(call));
  return {
    // As of the renewal: clients compare it with the increment, and the commit may have taken time.
    auth: tokenAuth(renewed, target.id, renewed.token.renewedMs),
    ...warned(renewed.warnings),
  };
}

/** Loads the certificate code only for a token that is bound to a key. */
const checkOf =
  ({ clientCertificates }: Call): KeyCheck =>
  async (...asked) => {
    const { certificateCheck } = await import('../../access/methods/cert/login.ts');
    await certificateCheck(clientCertificates)(...asked);
  };

export const renew = accessOperation({
  route: 'POST /auth/token/renew',
  params: {
    token: tokenId(
      'Accessor of the token, which "coffer token list" shows as ID; or the token, which other users can then see in the list of processes. Default, with a server: your own token.',
    ),
    increment: incrementParam,
  },
  cli: {
    examples: {
      'coffer token renew 6f2a9c0e4b7d1f35a8c2e6094d7b13f5a0c8e291 --increment 24h':
        'Renew the token with this accessor, see "coffer token list"',
      'coffer token renew --address http://127.0.0.1:8200 --token-file token.txt':
        'Renew the token in token.txt, on a server',
    },
    withoutParam: { param: 'token', run: 'renew-self' },
    self: 'renew-self',
    isOfVault: true,
  },
  async run(call, values) {
    const target = await findToken(call, values.token, 'auth/token/renew-accessor');
    if (target === undefined) throw invalid(ownWords('token not found'), { field: 'token' });
    return renewToken(call, target, values.increment);
  },
});

export const renewSelf = accessOperation({
  route: 'POST /auth/token/renew-self',
  params: { increment: incrementParam },
  cli: { isOfVault: true },
  run: async (call, values) => renewToken(call, await findOwn(call), values.increment),
});

export const renewAccessor = accessOperation({
  route: 'POST /auth/token/renew-accessor',
  params: { accessor: accessorParam, increment: incrementParam },
  run: async (call, values) =>
    renewToken(call, await findByAccessor(call, values.accessor), values.increment),
});
