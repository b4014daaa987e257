import { operation } from '../declaration/operation.ts';
import { tokenDetails } from './token-answers.ts';
import { findOwn } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: ['GET /auth/token/lookup-self', 'POST /auth/token/lookup-self'],
  capability: 'read',
  params: {},
  async run(call) {
    const { record, id } = await findOwn(call);
    return { data: tokenDetails(record, id, call.core.clock.now()) };
  },
});
