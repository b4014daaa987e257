import type { Store } from '../../../store/store.ts';
import type { JwtConfig, JwtPorts } from './documents.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { printSource, sourceOf } from './key-set.ts';
import { givenKeys } from './public-keys.ts';
import type { VerificationKeys } from './signed-token.ts';

/** Source of a mount's verification keys. */
interface RefreshedKeys {
  /**
   * Returns the keys.
   * @throws `unavailable` if there are no usable ones
   */
  current(): Promise<VerificationKeys>;
  /** Returns newer keys for a token that the given ones did not verify; undefined if there are none. */
  newerThan(keys: VerificationKeys): Promise<VerificationKeys | undefined>;
}

/** Issuers of the mounts of a process, by the mount's UUID. */
const issuers = new WeakMap<Store, Map<string, IssuerKeys>>();
const given = new WeakMap<JwtConfig, VerificationKeys>();

/**
 * Returns the keys of a mount.
 * @param config document from the store, which stays the same object as long as it is unchanged
 */
export function keysOf(room: JwtPorts, config: JwtConfig): RefreshedKeys {
  const source = sourceOf(config);
  if (source === undefined) {
    const keys = given.get(config) ?? givenKeys(config.jwt_validation_pubkeys);
    given.set(config, keys);
    return { current: async () => keys, newerThan: async () => undefined };
  }
  const known = issuers.get(room.store) ?? new Map<string, IssuerKeys>();
  issuers.set(room.store, known);
  const { uuid } = room.mount;
  let keys = known.get(uuid);
  if (keys?.id !== printSource(source)) {
    keys = new IssuerKeys(room, source);
    known.set(uuid, keys);
  }
  return keys;
}
