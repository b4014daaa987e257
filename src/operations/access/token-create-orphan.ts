import { operation } from '../declaration/operation.ts';
import { issueToken, tokenParams } from './issue-token.ts';

/** As `create`, but the token does not end with its creator; who may use this path needs no `sudo` for that. */
export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/create-orphan',
  capability: 'update',
  params: tokenParams,
  run: (call, values) => issueToken(call, values, 'auth/token/create-orphan'),
});
