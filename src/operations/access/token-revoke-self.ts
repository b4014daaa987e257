import { operation } from '../declaration/operation.ts';
import { callingToken } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/revoke-self',
  capability: 'update',
  params: {},
  async run({ core, caller }) {
    await (await core.access()).tokens.revoke(callingToken(caller).accessor);
    return {};
  },
});
