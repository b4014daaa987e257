import { operation } from '../declaration/operation.ts';
import { issueToken, tokenParams } from './issue-token.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/create',
  capability: 'update',
  params: tokenParams,
  cli: {
    result: { member: 'client_token', as: 'text' },
    examples: [
      ['coffer token create', 'a token of the owner, which may do everything and never expires'],
      ['coffer token create --policy orders --ttl 24h --display-name billing', 'a token for one program'],
      ['coffer token create --policy orders --period 24h', 'lives as long as it is renewed once a day'],
    ],
  },
  run: (call, values) => issueToken(call, values, 'auth/token/create'),
});
