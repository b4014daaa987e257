import { corrupt, type Place, placed } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Blob, BlobRef } from '../backends/backend.ts';
import { parseChecked, printChecked } from '../checked-json.ts';
import { FORMAT } from '../header.ts';
import { addAgain } from '../refusals.ts';
import { isKdf, type Kdf, parseKdf, printKdf } from './key-encryption.ts';
import { MAX_WRAPPED_BYTES, type SlotKind } from './slot-kind.ts';

/** Identity of a slot; authenticated with everything sealed in it. */
export interface SlotIdentity {
  /** 16 hexadecimal digits, random. */
  readonly id: string;
  readonly kind: SlotKind;
  /** Creation time, RFC 3339 in UTC. */
  readonly created: string;
  readonly shares?: { readonly count: number; readonly threshold: number } | undefined;
  /** X25519 public key, 32 bytes: the root key is wrapped to it. */
  readonly publicKey: Buffer;
}

export interface WrappedRootKey {
  /** Ephemeral X25519 public key, 32 bytes. */
  readonly ephemeralKey: Buffer;
  /** Sealed root key, with its tag. */
  readonly sealed: Buffer;
}

/** Key slot as stored. Format: docs/format.md, "Slots". */
export interface Slot extends SlotIdentity {
  readonly kdf: Kdf;
  /** The slot's own keys, sealed under the key derived from its secret, with a tag. */
  readonly sealedKeys: Buffer;
  readonly rootKey: WrappedRootKey;
  /** Only for `recipient`: the slot's secret, encrypted in the age format. */
  readonly wrapped?: Buffer | undefined;
}

const kinds: readonly SlotKind[] = ['passphrase', 'key-file', 'raw', 'command', 'shares', 'recipient'];
/**
 * Format of slots of kind `recipient`. Releases without them say that such a slot is of a newer Coffer, and not that it
 * is damaged.
 */
const RECIPIENT_FORMAT = 2;
const ID = /^[0-9a-f]{16}$/;
const PUBLIC_KEY_BYTES = 32;

export const slotRef = (id: string): BlobRef => ({ area: 'slots', name: id });

export function slotBlob(slot: Slot): Blob {
  const bytes = printChecked({
    format: slot.kind === 'recipient' ? RECIPIENT_FORMAT : FORMAT,
    id: slot.id,
    kind: slot.kind,
    created: slot.created,
    shares: slot.shares,
    kdf: printKdf(slot.kdf),
    publicKey: slot.publicKey.toString('base64'),
    sealedKeys: slot.sealedKeys.toString('base64'),
    rootKey: {
      ephemeralKey: slot.rootKey.ephemeralKey.toString('base64'),
      sealed: slot.rootKey.sealed.toString('base64'),
    },
    wrapped: slot.wrapped?.toString('base64'),
  });
  return { ref: slotRef(slot.id), bytes };
}

/**
 * Parses a slot file.
 * @param place location for messages
 * @throws `corrupt` naming the place
 */
export function parseSlot(name: string, bytes: Uint8Array, place: Place): Slot {
  const body = parseChecked(bytes);
  if (body === undefined) throw damaged(place, name);
  const { format, id, kind, created, shares, kdf, publicKey, sealedKeys, rootKey, wrapped } = body;
  const known = kind === 'recipient' ? RECIPIENT_FORMAT : FORMAT;
  if (typeof format === 'number' && format > known) {
    throw corrupt(placed`${place} was created by a newer Coffer (format ${format})`, {
      hint: 'install a newer Coffer; the slot is not damaged',
    });
  }
  const { ephemeralKey, sealed } = isObject(rootKey) ? rootKey : {};
  if (!isId(id) || id !== name || !isKind(kind) || typeof created !== 'string') throw damaged(place, name);
  if (!isKdf(kdf) || !isBase64(sealedKeys) || !isBase64(ephemeralKey) || !isBase64(sealed))
    throw damaged(place, name);
  if (!isBase64(publicKey) || Buffer.byteLength(publicKey, 'base64') !== PUBLIC_KEY_BYTES)
    throw damaged(place, name);
  if ((kind === 'recipient') !== isWrapped(wrapped)) throw damaged(place, name);
  return {
    id,
    kind,
    created,
    shares: isShares(shares) ? { count: shares.count, threshold: shares.threshold } : undefined,
    kdf: parseKdf(kdf),
    publicKey: Buffer.from(publicKey, 'base64'),
    sealedKeys: Buffer.from(sealedKeys, 'base64'),
    rootKey: { ephemeralKey: Buffer.from(ephemeralKey, 'base64'), sealed: Buffer.from(sealed, 'base64') },
    wrapped: isWrapped(wrapped) ? Buffer.from(wrapped, 'base64') : undefined,
  };
}

const damaged = (place: Place, id: string) => corrupt(placed`${place} is damaged`, { hint: addAgain(id) });

const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value);
const isKind = (value: unknown): value is SlotKind => kinds.some((kind) => kind === value);
const isBase64 = (value: unknown): value is string => typeof value === 'string' && value.length > 0;
const isWrapped = (value: unknown): value is string =>
  isBase64(value) && Buffer.byteLength(value, 'base64') <= MAX_WRAPPED_BYTES;
const isShares = (value: unknown): value is { count: number; threshold: number } =>
  isObject(value) && typeof value['count'] === 'number' && typeof value['threshold'] === 'number';
