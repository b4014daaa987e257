import { denied } from '../../errors.ts';
import { operation } from '../operation.ts';
import { tokenDetails } from './token-answers.ts';
import { findToken, tokenId } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/lookup',
  capability: 'update',
  computes: true,
  params: { token: tokenId('The token, or its accessor; without one, the token in use.') },
  cli: { withoutParam: { param: 'token', run: 'lookup-self' } },
  async run(call, values) {
    const id = values.token === undefined || values.token === '' ? call.caller.token : values.token;
    const target = await findToken(call, id, 'auth/token/lookup-accessor');
    if (target === undefined) throw denied('bad token', { field: 'token' });
    return { data: tokenDetails(target.record, target.id, call.core.clock.now()) };
  },
});
