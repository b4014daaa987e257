import { operation } from '../declaration/operation.ts';
import { incrementParam, renewToken } from './renewal.ts';
import { findOwn } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/renew-self',
  capability: 'update',
  params: { increment: incrementParam },
  run: async (call, values) => renewToken(call, await findOwn(call), values.increment),
});
