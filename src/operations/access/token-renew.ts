import { invalid } from '../../errors.ts';
import { operation } from '../operation.ts';
import { incrementParam, renewToken } from './renewal.ts';
import { findToken, tokenId } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/renew',
  capability: 'update',
  params: {
    token: tokenId('The token, or its accessor; without one, the token in use.'),
    increment: incrementParam,
  },
  cli: { withoutParam: { param: 'token', run: 'renew-self' } },
  async run(call, values) {
    const target = await findToken(call, values.token, 'auth/token/renew-accessor');
    if (target === undefined) throw invalid('token not found', { field: 'token' });
    return renewToken(call, target, values.increment);
  },
});
