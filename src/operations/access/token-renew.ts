import { invalid } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
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
  cli: {
    examples: [
      [
        'coffer token renew 6f2a9c0e4b7d1f35a8c2e6094d7b13f5a0c8e291 --increment 24h',
        'by its accessor, as "coffer token list" shows it',
      ],
      [
        'coffer token renew --address http://127.0.0.1:8200 --token-file token.txt',
        'the token in use on a server',
      ],
    ],
    withoutParam: { param: 'token', run: 'renew-self' },
  },
  async run(call, values) {
    const target = await findToken(call, values.token, 'auth/token/renew-accessor');
    if (target === undefined) throw invalid('token not found', { field: 'token' });
    return renewToken(call, target, values.increment);
  },
});
