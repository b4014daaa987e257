import type { KeyObject } from 'node:crypto';
import type { Offer } from '../../../access/doors.ts';
import { asCofferError } from '../../../ground/errors.ts';
import { isObject } from '../../../ground/objects.ts';
import { resultOf } from '../../../operations/declaration/operation.ts';
import { sshBlob } from '../../../signatures/ssh-key.ts';
import type { Desk } from '../desk.ts';
import { keyNameOf } from '../key-name.ts';
import type { PublicKeys } from '../public-keys.ts';
import type { SshIdentity } from './messages.ts';

/** Version of an offered key. */
export interface OfferedVersion extends SshIdentity {
  readonly offer: Offer;
  readonly version: number;
  readonly key: KeyObject;
}

/**
 * Returns every version of offered keys that can still sign: first the latest of each key, because servers count
 * attempts; then the earlier ones. Missing and currently unavailable keys are omitted.
 * @throws `sealed`, `unavailable` if nothing can be read
 */
export async function offeredVersions(
  desk: Desk,
  offers: readonly Offer[],
  keys: PublicKeys,
): Promise<readonly OfferedVersion[]> {
  const all = await Promise.all(offers.map((offer) => versionsOf(desk, offer, keys)));
  const mostVersions = Math.max(0, ...all.map((versions) => versions.length));
  return Array.from({ length: mostVersions }, (_, age) =>
    all.flatMap((versions) => versions[age] ?? []),
  ).flat();
}

/** Returns the versions of a key, latest first. */
async function versionsOf(desk: Desk, offer: Offer, keys: PublicKeys): Promise<readonly OfferedVersion[]> {
  let data: unknown;
  try {
    data = resultOf(await desk.run('transit keys read', { name: offer.key }, offer.mount));
  } catch (error) {
    if (KEY_ERRORS.has(asCofferError(error)?.kind ?? '')) return [];
    throw error;
  }
  if (!isObject(data) || !isObject(data['keys']) || data['derived'] === true) return [];
  const least = Number(data['min_encryption_version']) || 0;
  const latest = Number(data['latest_version']);
  return Object.entries(data['keys'])
    .map(([number, version]) => [Number(number), version] as const)
    .filter(([number]) => number >= least)
    .sort(([one], [other]) => other - one)
    .flatMap(([number, version]) => {
      const key = isObject(version) ? keys.read(version['public_key']) : undefined;
      const blob = key && blobOf(key);
      if (key === undefined || blob === undefined) return [];
      const comment = number === latest ? keyNameOf(offer) : `${keyNameOf(offer)}@v${number}`;
      return [{ offer, version: number, key, blob, comment }];
    });
}

/** Errors that concern a single key. */
const KEY_ERRORS: ReadonlySet<string> = new Set([
  'not-found',
  'denied',
  'invalid',
  'unsupported',
  'corrupt',
  'conflict',
]);

/** Encoded keys, undefined if SSH does not support their type. Clients list the same keys again and again. */
const blobs = new WeakMap<KeyObject, Buffer | undefined>();

function blobOf(key: KeyObject): Buffer | undefined {
  if (blobs.has(key)) return blobs.get(key);
  let blob: Buffer | undefined;
  try {
    blob = sshBlob(key);
  } catch {
    // SSH does not support keys of this type.
  }
  blobs.set(key, blob);
  return blob;
}
