import { invalid } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { findToken, tokenId } from './token-target.ts';

const PATH = 'auth/token/revoke-orphan';

/** Ends one token; those that it issued live on. */
export const declaration = operation({
  api: 'vault',
  route: `POST /${PATH}`,
  capability: 'update',
  params: { token: tokenId('The token, or its accessor.') },
  async run(call, values) {
    if (!call.caller.may(PATH, 'sudo'))
      throw invalid('root or sudo privileges required to revoke and orphan');
    const target = await findToken(call, values.token, 'auth/token/revoke-accessor');
    if (target === undefined) throw invalid('token to revoke not found', { field: 'token' });
    await (await call.core.access()).tokens.revokeAlone(target.record.accessor);
    return {};
  },
});
