/** Transit: named keys with versions, and what can be done with them. All of it works with what is here. */

import type { Clock } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import type { Mount } from '../mounts/mount.ts';
import { collectionOf, type MountType } from '../mounts/mounts.ts';
import type { Store } from '../store/store.ts';
import type { MessageCounts } from './message-counts.ts';

/** What the table of mounts must know of this room. */
export const transitMounts: MountType = { name: 'transit', collections: ['keys', 'config'] };

export const DIALECTS = ['service', 'vault'] as const;
/** Which prefix new ciphertexts get, and whether every key type rotates as in Vault. */
export type Dialect = (typeof DIALECTS)[number];

export const isDialect = (word: unknown): word is Dialect => DIALECTS.some((dialect) => dialect === word);

/** Who may say which dialect is spoken, from the strongest to the weakest. */
export interface DialectSources {
  readonly mount: Mount;
  /** For as long as a server runs. */
  readonly server: Dialect | undefined;
  /** What the caller speaks. */
  readonly caller: Dialect;
}

/** @see docs/decisions/0125 */
export function dialectOf({ mount, server, caller }: DialectSources): Dialect {
  const own = mount.options['dialect'];
  if (isDialect(own)) return own;
  const ofStore = mount.defaults?.['dialect'];
  return server ?? (isDialect(ofStore) ? ofStore : caller);
}

/** What every operation of one mount works with. */
export interface Engine {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** The uuid of the mount, which stays the same when it is moved. */
  readonly mount: string;
  /** The collection of the mount's named keys; the id is the key's name. */
  readonly keys: string;
  /** The collection of what is configured for the mount as a whole. */
  readonly settings: string;
  /** What ciphertexts, signatures and HMACs made here start with, the `v` before the version included. */
  readonly prefix: string;
  /** Keys of every type rotate, as in Vault; else only those that encrypt, unless forced. */
  readonly rotatesEveryType: boolean;
  /**
   * Some rules are the family's alone: a batch has a context in all of its items or in none, and signing without an input signs nothing.
   * @see docs/decisions/0294
   */
  readonly keepsFamilyRules: boolean;
  /** A server counts what it encrypts; a command does not. */
  readonly messages?: MessageCounts;
}

export function engineOf({
  mount,
  dialect,
  messages,
  ...ports
}: Pick<Engine, 'store' | 'clock' | 'random'> & {
  readonly mount: Mount;
  readonly dialect: Dialect;
  readonly messages?: MessageCounts | undefined;
}): Engine {
  return {
    ...ports,
    mount: mount.uuid,
    keys: collectionOf(mount, 'keys'),
    settings: collectionOf(mount, 'config'),
    prefix: `${dialect}:v`,
    rotatesEveryType: dialect === 'vault',
    keepsFamilyRules: dialect === 'vault',
    ...(messages === undefined ? {} : { messages }),
  };
}
