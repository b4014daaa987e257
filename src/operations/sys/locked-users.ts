import { lockedNames, unlock as unlockName } from '../../access/login/lockout.ts';
import { isLoginMount } from '../../mounts/mounts.ts';
import { done, operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';

/** Lists locked users, in Vault's layout with namespaces. */
export const list = operation({
  route: 'GET /sys/locked-users',
  withoutSecret: true,
  async run({ core }) {
    const methods = (await core.mounts.list()).filter(isLoginMount);
    const locked = await Promise.all(methods.map((mount) => lockedNames(core.store, mount, core.clock)));
    const accessors = methods.flatMap(({ accessor }, index) => {
      const names = locked[index] ?? [];
      return names.length === 0
        ? []
        : [{ mount_accessor: accessor, counts: names.length, alias_identifiers: names }];
    });
    const total = accessors.reduce((sum, { counts }) => sum + counts, 0);
    const namespace = { namespace_id: 'root', namespace_path: '', counts: total, mount_accessors: accessors };
    return { data: { by_namespace: total === 0 ? [] : [namespace], total } };
  },
});

export const unlock = operation({
  route: 'POST /sys/locked-users/:accessor/unlock/:alias',
  params: {
    accessor: text({ help: 'Accessor of the login method.', required: true }),
    alias: text({ help: 'Name of the locked-out user.', required: true }),
  },
  run: done(async ({ core }, { accessor, alias }) => {
    const mount = (await core.mounts.list()).find((candidate) => candidate.accessor === accessor);
    if (mount !== undefined) await unlockName(core.store, mount, alias.toLowerCase());
  }),
});
