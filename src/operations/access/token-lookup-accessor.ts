import { operation } from '../declaration/operation.ts';
import { tokenDetails } from './token-answers.ts';
import { accessorParam, findByAccessor } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/lookup-accessor',
  capability: 'update',
  computes: true,
  params: { accessor: accessorParam },
  async run(call, values) {
    const { record, id } = await findByAccessor(call, values.accessor);
    return { data: tokenDetails(record, id, call.core.clock.now()) };
  },
});
