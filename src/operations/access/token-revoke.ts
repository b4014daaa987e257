import { type CofferError, expected, invalid, notFound, ownWords } from '../../ground/errors.ts';
import type { JsonObject } from '../../ground/objects.ts';
import { FOR_GOOD } from '../declaration/deleting.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { done, type Runner } from '../declaration/operation.ts';
import {
  accessorParam,
  callingToken,
  findOwn,
  findToken,
  missingId,
  refuseBatch,
  tokenId,
} from './token-target.ts';

/** Text of Vault, whose response is a success. */
const UNKNOWN = 'No token found with this ID';

const nothingRevoked = (): CofferError =>
  notFound(ownWords('no token with this ID or accessor, nothing was revoked'), {
    hint: 'list the tokens and their accessors with "coffer token list"',
  });

/**
 * Checks that an ID is that of a token, before the user is asked. A refusal may also be about the caller: only the
 * texts for an unknown token and for an unknown accessor together are certain.
 * @throws `not-found`
 */
async function foreseeToken(token: string, runner: Runner): Promise<void> {
  const why = async (operation: string, raw: JsonObject) => {
    const error = await runner.run(operation, raw).then(() => undefined, expected);
    return error?.message;
  };
  if ((await why('token lookup', { token })) !== 'bad token') return;
  if ((await why('token lookup-accessor', { accessor: token })) === 'invalid accessor')
    throw nothingRevoked();
}

export const revoke = accessOperation({
  route: 'POST /auth/token/revoke',
  withoutSecret: true,
  params: {
    token: tokenId(
      'Accessor of the token, which "coffer token list" shows as ID; or the token, which other users can then see in the list of processes.',
    ),
  },
  cli: {
    examples: {
      'coffer token revoke 6f2a9c0e4b7d1f35a8c2e6094d7b13f5a0c8e291':
        'Revoke the token with this accessor, see "coffer token list"',
      'coffer token revoke --in token.txt --yes': 'Revoke a token read from a file',
      'coffer token revoke --self': 'Revoke your own token',
    },
    self: 'revoke-self',
    input: { param: 'token', as: 'text', what: 'the token or its accessor' },
    foresee: async ({ token }, runner) => {
      if (token === undefined || token === '') throw missingId();
      await foreseeToken(String(token), runner);
    },
    confirm: async () => `Revoke the token and all its child tokens? ${FOR_GOOD}`,
    missed: ({ warnings = [] }) => (warnings.includes(UNKNOWN) ? nothingRevoked() : undefined),
    done: () => 'Revoked.',
  },
  async run(call, values) {
    const target = await findToken(call, values.token, 'auth/token/revoke-accessor');
    if (target === undefined) return { warnings: [UNKNOWN] };
    refuseBatch(target.record.token, 'revoked');
    await call.access.tokens.revoke(target.record.accessor);
    return {};
  },
});

export const revokeSelf = accessOperation({
  route: 'POST /auth/token/revoke-self',
  withoutSecret: true,
  cli: { done: () => 'Revoked.' },
  run: done(async (call) => {
    const { accessor } = callingToken(call.caller);
    if (accessor === '') refuseBatch((await findOwn(call)).record.token, 'revoked');
    await call.access.tokens.revoke(accessor);
  }),
});

export const revokeAccessor = accessOperation({
  route: 'POST /auth/token/revoke-accessor',
  withoutSecret: true,
  params: { accessor: accessorParam },
  async run({ access }, { accessor = '' }) {
    if (accessor === '') throw invalid(ownWords('missing accessor'), { field: 'accessor' });
    const revoked = await access.tokens.revoke(accessor);
    return revoked ? {} : { warnings: ['No token found with this accessor'] };
  },
});

const PATH = 'auth/token/revoke-orphan';

/** Revokes a single token; its children become orphans. */
export const revokeOrphan = accessOperation({
  route: `POST /${PATH}`,
  params: {
    token: tokenId(
      'Accessor of the token, which "coffer token list" shows as ID; or the token, which other users can then see in the list of processes.',
    ),
  },
  run: done(async (call, values) => {
    if (!call.caller.may(PATH, 'sudo'))
      throw invalid(ownWords('root or sudo privileges required to revoke and orphan'));
    const target = await findToken(call, values.token, 'auth/token/revoke-accessor');
    if (target === undefined) throw invalid(ownWords('token to revoke not found'), { field: 'token' });
    refuseBatch(target.record.token, 'revoked');
    await call.access.tokens.revokeAlone(target.record.accessor);
  }),
});
