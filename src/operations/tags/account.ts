import { findOwn, type TokenTarget } from '../access/token-target.ts';
import { documentOperation } from '../declaration/operation.ts';

/** User shown for the owner, who has no token. */
const OWNER = { id: 'owner', username: 'owner' } as const;

/** Returns the user of a token; batch tokens have no accessor. */
const userOf = ({ record: { accessor, token } }: TokenTarget) => ({
  id: accessor || token.displayName,
  username: token.displayName,
});

/** Returns the caller: programs verify a token with it before storing it. A token counts as its user. */
export const details = documentOperation({
  route: 'GET /account/details',
  capability: 'read',
  withoutSecret: true,
  anyToken: true,
  params: {},
  async run(call) {
    const { caller } = call;
    const user = caller.accessor === undefined ? OWNER : userOf(await findOwn(call));
    return {
      data: {
        data: {
          id: user.id,
          type: 'users',
          attributes: {
            username: user.username,
            email: null,
            'is-service-account': true,
            permissions: { 'can-create-organizations': caller.may('organizations', 'create') },
          },
          links: { self: '/api/v2/account/details' },
        },
      },
    };
  },
});
