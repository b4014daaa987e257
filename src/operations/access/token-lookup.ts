import { denied } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { tokenDetails } from './token-answers.ts';
import { findToken, tokenId } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/lookup',
  capability: 'update',
  computes: true,
  params: { token: tokenId('The token, or its accessor; without one, the token in use.') },
  cli: {
    examples: [
      [
        'coffer token lookup 6f2a9c0e4b7d1f35a8c2e6094d7b13f5a0c8e291',
        'by its accessor, as "coffer token list" shows it',
      ],
      [
        'coffer token lookup --address http://127.0.0.1:8200 --token-file token.txt',
        'the token in use on a server',
      ],
    ],
    withoutParam: { param: 'token', run: 'lookup-self' },
  },
  async run(call, values) {
    const id = values.token === undefined || values.token === '' ? call.caller.token : values.token;
    const target = await findToken(call, id, 'auth/token/lookup-accessor');
    if (target === undefined) throw denied('bad token', { field: 'token' });
    return { data: tokenDetails(target.record, target.id, call.core.clock.now()) };
  },
});
