import { CAPABILITIES } from '../../access/capability.ts';
import { holdersOf, type LoginMethod } from '../../access/holders.ts';
import { printTime } from '../../ground/clock.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { type Core, computing } from '../declaration/operation.ts';
import { choice, text } from '../declaration/params.ts';
import { MOUNT_TYPES } from '../mount-types.ts';

/**
 * Coffer's own: which policies grant a capability on a path, and which logins and tokens have it. In Vault, this is
 * only available for single tokens.
 * @see docs/decisions/0293
 */
export const list = accessOperation({
  route: 'POST /sys/capabilities-holders',
  // As the list of tokens, which is part of the result.
  capability: 'sudo',
  ...computing,
  params: {
    path: text({ help: 'API path, as in a policy, e.g. transit/decrypt/orders.', required: true }),
    capability: choice(CAPABILITIES, { help: 'Capability to look for.', required: true }),
  },
  async run({ core, access: { policies, tokens, roles } }, asked) {
    const found = await holdersOf(
      { store: core.store, policies, tokens, roles },
      asked,
      await methodsOf(core),
    );
    return {
      data: {
        ...asked,
        policies: found.policies,
        logins: found.logins.map((login) => ({ ...login, mount: `${login.mount}/` })),
        token_roles: found.tokenRoles.map(({ name, policies: through }) => ({ name, policies: through })),
        tokens: found.tokens.map(({ accessor, token, policies: through }) => ({
          accessor,
          display_name: token.displayName,
          policies: through,
          expire_time: token.expiresMs === undefined ? null : printTime(token.expiresMs),
        })),
      },
    };
  },
});

/** Returns the login methods that have roles or users. */
async function methodsOf({ mounts }: Core): Promise<readonly LoginMethod[]> {
  const collections = new Map(MOUNT_TYPES.map(({ name, roles }) => [name, roles]));
  return (await mounts.list()).flatMap((mount) => {
    const roles = collections.get(mount.type);
    return roles === undefined ? [] : [{ mount, roles }];
  });
}
