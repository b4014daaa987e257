import type { KeyObject } from 'node:crypto';
import type { Offer } from '../../../access/doors.ts';
import { asCofferError } from '../../../ground/errors.ts';
import { isObject } from '../../../ground/objects.ts';
import { resultOf } from '../../../operations/declaration/operation.ts';
import { sshBlob } from '../../../signatures/ssh-key.ts';
import type { Desk } from '../desk.ts';
import { keyNameOf } from '../key-name.ts';
import type { PublicKeys } from '../public-keys.ts';
import type { Identity } from './messages.ts';

/** A version of a key that is offered. */
export interface OfferedVersion extends Identity {
  readonly offer: Offer;
  readonly version: number;
  readonly key: KeyObject;
}

/**
 * Every version of offered keys that may still sign: the latest of each key first, as servers count tries; then those before
 * them. A key that is gone, or that can't be shown now, is left out.
 * @throws `sealed`, `unavailable` when nothing can be told.
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

/** The latest first. */
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
      const blob = blobOf(key);
      if (key === undefined || blob === undefined) return [];
      const comment = number === latest ? keyNameOf(offer) : `${keyNameOf(offer)}@v${number}`;
      return [{ offer, version: number, key, blob, comment }];
    });
}

/** What is about one key alone. */
const KEY_ERRORS: ReadonlySet<string> = new Set([
  'not-found',
  'denied',
  'invalid',
  'unsupported',
  'corrupt',
  'conflict',
]);

/** Undefined for what SSH has no name for. */
function blobOf(key: KeyObject | undefined): Buffer | undefined {
  try {
    return key && sshBlob(key);
  } catch {
    return undefined;
  }
}
