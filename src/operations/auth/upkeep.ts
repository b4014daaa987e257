import { tidySecrets } from '../../access/methods/approle/tidy.ts';
import type { Mount } from '../../mounts/mount.ts';
import type { Core } from '../declaration/operation.ts';

/** Clears away what login methods no longer need. A server calls it now and then. */
export async function tidyLogins({ store, clock, random, mounts }: Core): Promise<void> {
  await mounts.sweep();
  for (const mount of await mounts.list('approle')) await tidySecrets({ store, clock, random, mount });
}

/** What could not be fetched. */
interface Failure {
  /** Of the mount, and the name below it. */
  readonly list: string;
  readonly reason: string;
}

/** Fetches lists of revoked certificates again that are out of date. A server calls it now and then. */
export async function refreshRevocations({ store, clock, mounts }: Core): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const mount of await mounts.list('cert'))
    failures.push(...(await refreshBelow({ store, clock, mount })));
  return failures;
}

/** What reads certificates is loaded only where there are any. */
async function refreshBelow(room: Pick<Core, 'store' | 'clock'> & { readonly mount: Mount }) {
  const { refreshLists } = await import('../../access/methods/cert/lists.ts');
  const failures = await refreshLists(room);
  return failures.map(({ name, reason }) => ({ list: `${room.mount.path}/crls/${name}`, reason }));
}
