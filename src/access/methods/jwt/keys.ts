import type { Store } from '../../../store/store.ts';
import type { JwtConfig, Room } from './documents.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { printSource, sourceOf } from './key-set.ts';
import { givenKeys } from './public-keys.ts';
import type { VerificationKeys } from './signed-token.ts';

/** Where a mount's keys come from. */
export interface Keys {
  /** @throws `unavailable` when there are none that can be used. */
  current(): Promise<VerificationKeys>;
  /** For a token that those did not verify; undefined when there are no others. */
  newerThan(keys: VerificationKeys): Promise<VerificationKeys | undefined>;
}

/** Of the mounts of a process, by the mount's uuid. */
const issuers = new WeakMap<Store, Map<string, IssuerKeys>>();
const given = new WeakMap<JwtConfig, VerificationKeys>();

/** @param config as the store gives it, which stays one object for as long as nothing is changed. */
export function keysOf(room: Room, config: JwtConfig): Keys {
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
