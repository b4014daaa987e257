import { tidySecrets } from '../../access/methods/approle/secret-ids.ts';
import type { Mount } from '../../mounts/mount.ts';
import type { Core } from '../declaration/operation.ts';

/** Deletes obsolete data of login methods. Servers call it periodically. */
export async function tidyLogins({ store, clock, random, mounts }: Core): Promise<void> {
  await mounts.sweep();
  for (const mount of await mounts.list('approle')) await tidySecrets({ store, clock, random, mount });
}

/** List that could not be fetched. */
interface Failure {
  /** Mount, and name of the list below it. */
  readonly list: string;
  readonly reason: string;
}

/** Fetches outdated certificate revocation lists again. Servers call it periodically. */
export async function refreshRevocations({ store, clock, mounts }: Core): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const mount of await mounts.list('cert'))
    failures.push(...(await refreshBelow({ store, clock, mount })));
  return failures;
}

/** Load the certificate code only if there are `cert` mounts. */
async function refreshBelow(room: Pick<Core, 'store' | 'clock'> & { readonly mount: Mount }) {
  const { refreshLists } = await import('../../access/methods/cert/lists.ts');
  const failures = await refreshLists(room);
  return failures.map(({ name, reason }) => ({ list: `${room.mount.path}/crls/${name}`, reason }));
}
