import { collectionOf } from '../../../mounts/mounts.ts';
import type { View } from '../../../store/store.ts';
import {
  type AppRolePorts,
  findRole,
  hasEnded,
  removeSecret,
  type SecretId,
  secretPrefix,
  secretRef,
} from './documents.ts';
import { SECRETS } from './mount-type.ts';

/** Number of secret IDs checked per transaction. */
const BATCH = 500;

/** Deletes secret IDs that have expired, or whose role is gone. */
export async function tidySecrets(room: AppRolePorts): Promise<void> {
  const { store, mount } = room;
  let after = '';
  for (;;) {
    const ids = await store.read((view) => view.list(collectionOf(mount, SECRETS), { after, limit: BATCH }));
    const last = ids.at(-1);
    if (last === undefined) return;
    if ((await store.read((view) => deadOf(view, room, ids))).length > 0) {
      await store.transact(
        async (tx) => {
          for (const [id, secret] of await deadOf(tx, room, ids)) removeSecret(tx, mount, id, secret);
        },
        { alone: true },
      );
    }
    after = last;
  }
}

async function deadOf(
  view: View,
  { mount, clock }: AppRolePorts,
  ids: readonly string[],
): Promise<readonly (readonly [string, SecretId])[]> {
  const dead: (readonly [string, SecretId])[] = [];
  for (const id of ids) {
    const secret = await view.get<SecretId>(secretRef(mount, id));
    if (secret === undefined) continue;
    const role = await findRole(view, mount, secret.role);
    const isNobodys = role === undefined || !id.startsWith(secretPrefix(role));
    if (isNobodys || hasEnded(secret, clock.now())) dead.push([id, secret]);
  }
  return dead;
}
