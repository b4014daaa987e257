import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { lengthPrefixed, TAG_BYTES, wipe, wiping } from '../ground/bytes.ts';
import { corrupt, type Place, placed } from '../ground/errors.ts';
import { madeOnce } from '../ground/objects.ts';
import { type Random, systemRandom } from '../ground/random.ts';
import type { Blob, BlobRef } from './backends/backend.ts';
import { REPAIR } from './refusals.ts';
import { openOnce, type SealContext, sealOnce } from './single-use-seal.ts';

export const ROOT_KEY_BYTES = 32;
const SEALED_FORMAT = 1;
const SALT_BYTES = 32;
const HEAD_BYTES = 1 + SALT_BYTES;
/** Of HMAC-SHA256: 160 bits, beyond any hope of a collision, and short enough for every file system. */
const NAME_BYTES = 20;
/** Names that are remembered: a change asks for that of each document several times. */
const KNOWN_NAMES = 4096;

/** Identity of a sealed blob: its name is derived from this, and this is sealed inside it. */
export interface BlobIdentity {
  /** `document`: documents of the layers above. `index`: the IDs of a collection. `slots`: the list of key slots. */
  readonly space: 'document' | 'index' | 'slots';
  readonly collection: string;
  readonly id: string;
}

/** Different identities always give different texts, for any characters. */
export const identityKey = ({ space, collection, id }: BlobIdentity): string =>
  `${space}/${collection.length}/${collection}${id}`;

export interface OpenedBlob {
  readonly identity: BlobIdentity;
  /** Content, as JSON text. */
  readonly json: string;
}

/**
 * Root key that seals a store, for one generation. Blobs are sealed under their own name, the name is a keyed hash of
 * their identity, and the identity is inside: a blob that was renamed, swapped or copied from another store or
 * generation does not open.
 * @see docs/decisions/0003
 */
export class RootKey {
  readonly generation: number;
  readonly storeId: string;
  readonly #root: KeyObject;
  readonly #sealing: KeyObject;
  readonly #naming: KeyObject;
  readonly #random: Random;
  readonly #derived = new Map<string, KeyObject>();
  /** Names of blobs by `identityKey`. */
  readonly #names = new Map<string, BlobRef>();

  /** @param bytes 32 bytes, which the caller wipes */
  constructor(bytes: Uint8Array, storeId: string, generation: number, random: Random = systemRandom) {
    this.generation = generation;
    this.storeId = storeId;
    this.#root = createSecretKey(bytes);
    this.#sealing = subkey(this.#root, storeId, 'coffer/1/sealing key');
    this.#naming = subkey(this.#root, storeId, 'coffer/1/naming key');
    this.#random = random;
  }

  /** Exports a copy of the root key, to be wrapped for a slot and then wiped. */
  export(): Buffer {
    return this.#root.export();
  }

  /** Derives a key for a purpose of the store's user; keys of different purposes are independent. */
  derive(purpose: string): KeyObject {
    return madeOnce(this.#derived, purpose, () =>
      subkey(this.#root, this.storeId, `coffer/1/key for ${purpose}`),
    );
  }

  /** The opaque name under which a blob is kept. */
  refOf(identity: BlobIdentity): BlobRef {
    const key = identityKey(identity);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const { space, collection, id } = identity;
    const mac = createHmac('sha256', this.#naming)
      .update(lengthPrefixed(space, collection, id))
      .digest();
    const ref: BlobRef = { area: 'documents', name: mac.toString('hex', 0, NAME_BYTES) };
    if (this.#names.size >= KNOWN_NAMES) this.#names.clear();
    this.#names.set(key, ref);
    return ref;
  }

  seal(identity: BlobIdentity, json: string): Blob {
    const ref = this.refOf(identity);
    const salt = this.#random.bytes(SALT_BYTES);
    const plaintext = lengthPrefixed(identity.space, identity.collection, identity.id, json);
    const bytes = sealOnce(this.#context(ref, salt), plaintext, Uint8Array.of(SEALED_FORMAT), salt);
    wipe(plaintext);
    return { ref, bytes };
  }

  /**
   * Opens a sealed blob.
   * @param place location for messages
   * @throws `corrupt` naming the place
   */
  open(ref: BlobRef, bytes: Uint8Array, place: Place): OpenedBlob {
    if (bytes.length < HEAD_BYTES + TAG_BYTES) throw damaged(place, 'it is truncated');
    if (bytes[0] !== SEALED_FORMAT) throw damaged(place, 'its format is unknown');
    const plaintext = openOnce(this.#context(ref, bytes.subarray(1, HEAD_BYTES)), bytes.subarray(HEAD_BYTES));
    if (plaintext === undefined) throw damaged(place, 'its content was changed, or is that of another file');
    const [space, collection, id, json] = splitLengthPrefixed(plaintext);
    wipe(plaintext);
    if (!isSpace(space) || collection === undefined || id === undefined || json === undefined) {
      throw damaged(place, 'it has no ID');
    }
    return { identity: { space, collection, id }, json };
  }

  #context(ref: BlobRef, salt: Uint8Array): SealContext {
    return {
      secret: this.#sealing,
      salt,
      purpose: 'coffer/1/sealed file',
      associatedData: lengthPrefixed('coffer/1/sealed file', this.storeId, ref.name),
    };
  }
}

/**
 * Returns a fingerprint that distinguishes two seals without opening them: the salt and the tag. It is a text because
 * caches keep it: a small buffer would keep alive the much larger one that it is a part of.
 */
export const fingerprint = (bytes: Uint8Array): string =>
  Buffer.concat([bytes.subarray(0, HEAD_BYTES), bytes.subarray(-TAG_BYTES)]).toString('latin1');

function subkey(root: KeyObject, storeId: string, purpose: string): KeyObject {
  const bytes = new Uint8Array(hkdfSync('sha256', root, storeId, purpose, ROOT_KEY_BYTES));
  return wiping(bytes, createSecretKey);
}

function splitLengthPrefixed(bytes: Buffer): string[] {
  const fields: string[] = [];
  let at = 0;
  while (at + 4 <= bytes.length) {
    const end = at + 4 + bytes.readUInt32BE(at);
    fields.push(bytes.toString('utf8', at + 4, end));
    at = end;
  }
  return fields;
}

const isSpace = (text: string | undefined): text is BlobIdentity['space'] =>
  text === 'document' || text === 'index' || text === 'slots';

const damaged = (place: Place, reason: string) =>
  corrupt(placed`${place} is damaged: ${reason}`, { hint: REPAIR });
