/** Transit: named keys with versions, and the operations on them. This is the context that all of them share. */

import type { Clock } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import type { Mount, MountType } from '../mounts/mount.ts';
import { collectionOf } from '../mounts/mounts.ts';
import type { Store } from '../store/store.ts';
import type { MessageCounts } from './message-counts.ts';

/** Mount type of transit. */
export const transitMounts: MountType = { name: 'transit', collections: ['keys', 'config'] };

export const DIALECTS = ['service', 'vault'] as const;
/** Dialect: determines the prefix of new ciphertexts, and whether every key type rotates as in Vault. */
export type Dialect = (typeof DIALECTS)[number];

export const isDialect = (word: unknown): word is Dialect => DIALECTS.some((dialect) => dialect === word);

/** Settings that determine the dialect, from the strongest to the weakest. */
interface DialectSources {
  readonly mount: Mount;
  /** Dialect of a server, for as long as it runs. */
  readonly server: Dialect | undefined;
  /** Dialect of the caller. */
  readonly caller: Dialect;
}

/**
 * Returns the dialect in effect.
 * @see docs/decisions/0125
 */
export function dialectOf({ mount, server, caller }: DialectSources): Dialect {
  const own = mount.options['dialect'];
  if (isDialect(own)) return own;
  const ofStore = mount.defaults?.['dialect'];
  return server ?? (isDialect(ofStore) ? ofStore : caller);
}

/** Context of every operation of one mount. */
export interface Engine {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** UUID of the mount, which does not change when it is moved. */
  readonly mount: string;
  /** Collection of the mount's named keys; the ID is the key's name. */
  readonly keys: string;
  /** Collection of the mount's own settings. */
  readonly settings: string;
  /** Prefix of new ciphertexts, signatures and HMACs, including the `v` before the version. */
  readonly prefix: string;
  /** Whether keys of every type rotate, as in Vault; otherwise only those that encrypt, unless forced. */
  readonly rotatesEveryType: boolean;
  /**
   * Whether Vault's own rules apply: a batch has a context in all of its items or in none, and signing without an input
   * signs an empty one.
   * @see docs/decisions/0294
   */
  readonly keepsFamilyRules: boolean;
  /** Counter of encryptions; servers count, commands do not. */
  readonly messages?: MessageCounts | undefined;
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
    messages,
  };
}
