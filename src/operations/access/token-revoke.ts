import { operation } from '../declaration/operation.ts';
import { findToken, tokenId } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/revoke',
  capability: 'update',
  params: { token: tokenId('The token, or its accessor.') },
  cli: {
    examples: [
      [
        'coffer token revoke 6f2a9c0e4b7d1f35a8c2e6094d7b13f5a0c8e291',
        'by its accessor, as "coffer token list" shows it',
      ],
      ['coffer token revoke --in token.txt --yes', 'the token itself, from a file'],
    ],
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
