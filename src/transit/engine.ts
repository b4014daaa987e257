import type { Clock } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import { configCollection, keysCollection, type Mount } from '../mounts/mounts.ts';
import type { Store } from '../store/store.ts';

/** What every operation of one mount works with. */
export interface Engine {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** The collection of the mount's named keys; the id is the key's name. */
  readonly keys: string;
  /** The collection of what is configured for the mount as a whole. */
  readonly settings: string;
  /** What ciphertexts, signatures and HMACs made here start with, the `v` before the version included. */
  readonly prefix: string;
  /** Keys of every type rotate, as in Vault; else only those that encrypt, unless forced. */
  readonly rotatesEveryType: boolean;
}

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly mount: Mount;
}

export const engineOf = ({ store, clock, random, mount }: EngineOptions): Engine => ({
  store,
  clock,
  random,
  keys: keysCollection(mount),
  settings: configCollection(mount),
  prefix: `${mount.dialect}:v`,
  rotatesEveryType: mount.dialect === 'vault',
});
