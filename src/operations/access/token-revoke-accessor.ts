import { invalid } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { accessorParam } from './token-target.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /auth/token/revoke-accessor',
  capability: 'update',
  params: { accessor: accessorParam },
  async run({ core }, { accessor = '' }) {
    if (accessor === '') throw invalid('missing accessor', { field: 'accessor' });
    const revoked = await (await core.access()).tokens.revoke(accessor);
    return revoked ? {} : { warnings: ['No token found with this accessor'] };
  },
});
