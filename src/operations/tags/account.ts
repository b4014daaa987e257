import { documentOperation } from '../declaration/operation.ts';

/** What programs show as the user of the owner, who has no token. */
const OWNER = { id: 'owner', username: 'owner' } as const;

/** Who asks: a program checks a token by this before it keeps it. A token stands for its user. */
export const details = documentOperation({
  route: 'GET /account/details',
  capability: 'read',
  anyToken: true,
  params: {},
  async run({ caller, core }) {
    const { tokens } = await core.access();
    const found = caller.accessor === undefined ? undefined : await tokens.get(caller.accessor);
    const user = found === undefined ? OWNER : { id: found.accessor, username: found.token.displayName };
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
