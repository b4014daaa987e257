import type { KeyObject } from 'node:crypto';
import type { Offer } from '../../../access/doors.ts';
import { asCofferError, attempt } from '../../../ground/errors.ts';
import { isObject } from '../../../ground/objects.ts';
import { resultOf } from '../../../operations/declaration/operation.ts';
import { sshBlob } from '../../../signatures/ssh-key.ts';
import { type Desk, keyNameOf } from '../desk.ts';
import { PublicKeys } from '../public-keys.ts';
import { identitiesAnswer, type SshIdentity } from './messages.ts';

/** Version of an offered key. */
export interface OfferedVersion extends SshIdentity {
  readonly offer: Offer;
  readonly version: number;
  readonly key: KeyObject;
}

/** Keys that are offered, as they were found last. */
interface Listing {
  readonly versions: readonly OfferedVersion[];
  readonly byBlob: ReadonlyMap<string, OfferedVersion>;
  /** Message that lists all of them. */
  readonly answer: Buffer;
}

const NOTHING: readonly OfferedVersion[] = [];

/** Versions of offered keys. */
export class OfferedVersions {
  readonly #desk: Desk;
  readonly #keys = new PublicKeys();
  /** What was found in the versions that a desk returned: they are the same object while the key has not changed. */
  readonly #read = new WeakMap<object, { readonly of: Offer; readonly found: readonly OfferedVersion[] }>();
  #found: readonly (readonly OfferedVersion[])[] = [];
  last: Listing = listingOf([]);

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /**
   * Lists every version of offered keys that can still sign: first the latest of each key, because servers count
   * attempts; then the earlier ones. Missing and currently unavailable keys are omitted.
   * @throws `sealed`, `unavailable` if nothing can be read
   */
  async list(offers: readonly Offer[]): Promise<Listing> {
    const all = await Promise.all(offers.map((offer) => this.#versionsOf(offer)));
    if (all.length !== this.#found.length || all.some((found, at) => found !== this.#found[at])) {
      this.#found = all;
      this.last = listingOf(all);
    }
    return this.last;
  }

  /** Returns the versions of a key, latest first. */
  async #versionsOf(offer: Offer): Promise<readonly OfferedVersion[]> {
    let data: unknown;
    try {
      data = resultOf(await this.#desk.run('transit keys read', { name: offer.key }, offer.mount));
    } catch (error) {
      if (KEY_ERRORS.has(asCofferError(error)?.kind ?? '')) return NOTHING;
      throw error;
    }
    if (!isObject(data) || !isObject(data['keys']) || data['derived'] === true) return NOTHING;
    const read = this.#read.get(data['keys']);
    if (read?.of === offer) return read.found;
    const least = Number(data['min_encryption_version']) || 0;
    const latest = Number(data['latest_version']);
    const found = Object.entries(data['keys'])
      .map(([number, version]) => [Number(number), version] as const)
      .filter(([number]) => number >= least)
      .sort(([one], [other]) => other - one)
      .flatMap(([number, version]) => {
        const key = isObject(version) ? this.#keys.read(version['public_key']) : undefined;
        const blob = key && blobOf(key);
        if (key === undefined || blob === undefined) return [];
        const comment = number === latest ? keyNameOf(offer) : `${keyNameOf(offer)}@v${number}`;
        return [{ offer, version: number, key, blob, comment }];
      });
    this.#read.set(data['keys'], { of: offer, found });
    return found;
  }
}

function listingOf(all: readonly (readonly OfferedVersion[])[]): Listing {
  const mostVersions = Math.max(0, ...all.map(({ length }) => length));
  const versions = Array.from({ length: mostVersions }, (_, age) =>
    all.flatMap((found) => found[age] ?? []),
  ).flat();
  return {
    versions,
    byBlob: new Map(versions.map((version) => [version.blob.toString('base64'), version])),
    answer: identitiesAnswer(versions),
  };
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
  const blob = attempt(() => sshBlob(key));
  blobs.set(key, blob);
  return blob;
}
