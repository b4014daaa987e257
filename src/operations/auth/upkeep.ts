import { tidySecrets } from '../../access/methods/approle/secret-ids.ts';
import type { Core } from '../declaration/operation.ts';

/** Deletes obsolete data of login methods. Servers call it periodically. */
export async function tidyLogins({ store, clock, random, mounts }: Core): Promise<void> {
  await mounts.sweep();
  for (const mount of await mounts.list('approle')) await tidySecrets({ store, clock, random, mount });
}

/**
 * Fetches outdated certificate revocation lists again. Servers call it periodically.
 * @returns the mount and name of each list that could not be fetched
 */
export async function refreshRevocations({ store, clock, mounts }: Core) {
  const failures: { readonly list: string; readonly reason: string }[] = [];
  for (const mount of await mounts.list('cert')) {
    // The certificate code is loaded only if there are such mounts.
    const { refreshLists } = await import('../../access/methods/cert/lists.ts');
    for (const { name, reason } of await refreshLists({ store, clock, mount })) {
      failures.push({ list: `${mount.path}/crls/${name}`, reason });
    }
  }
  return failures;
}
