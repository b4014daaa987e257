import { operation } from '../operation.ts';
import { findToken, tokenId } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/revoke',
  capability: 'update',
  params: { token: tokenId('The token, or its accessor.') },
  cli: {
    input: { param: 'token', as: 'text' },
    confirm: async () => 'Revoke the token and every token that it issued?',
    done: () => 'Revoked.',
  },
  async run(call, values) {
    const target = await findToken(call, values.token, 'auth/token/revoke-accessor');
    if (target === undefined) return { warnings: ['No token found with this ID'] };
    await (await call.core.access()).tokens.revoke(target.record.accessor);
    return {};
  },
});
