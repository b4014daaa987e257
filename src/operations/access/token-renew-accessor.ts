import { operation } from '../declaration/operation.ts';
import { incrementParam, renewToken } from './renewal.ts';
import { accessorParam, findByAccessor } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/renew-accessor',
  capability: 'update',
  params: { accessor: accessorParam, increment: incrementParam },
  run: async (call, values) =>
    renewToken(call, await findByAccessor(call, values.accessor), values.increment),
});
