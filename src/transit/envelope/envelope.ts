/**
 * Envelopes: files of any length, each under a data key that a named key wraps (docs/envelope-format.md).
 * @see docs/decisions/0080
 */

import {
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { utf8, wipe } from '../../ground/bytes.ts';
import { type CofferError, denied, invalid, unsupported } from '../../ground/errors.ts';
import {
  ALGORITHM_NAME,
  FORMAT_VERSION,
  type HeaderLayout,
  MAC_BYTES,
  MAX_WRAPPED_KEY_BYTES,
  PREFIX_BYTES,
  parsePrefix,
  parseSealedHeader,
} from './header.ts';
import { type ByteSource, type DataKeys, readExactly } from './ports.ts';
import { damaged } from './refusals.ts';

/**
 * End of a header: two halves that hold the wrapped data key alternately, so that an interrupted rewrap leaves the old
 * one or the new one. A half has a checksum instead of a MAC, because a rewrap does not see the data key. Its content
 * is authenticated itself, by the named key that opens it and by the header's MAC, which only the right data key
 * verifies.
 * @see docs/decisions/0081
 */

export interface WrappedKey {
  /**
   * 1 when the file is written, incremented by every rewrap; odd ones are in the first half, even ones in the second.
   */
  readonly generation: number;
  /** Transit ciphertext. */
  readonly ciphertext: string;
}

const LENGTH_AT = 4;
const CIPHERTEXT_AT = 6;
const CHECKSUM_BYTES = 32;
const OVERHEAD_BYTES = CIPHERTEXT_AT + CHECKSUM_BYTES;
/** Spare space, in bytes: a later key version has more digits, another dialect a longer prefix. */
const ROOM_TO_GROW_BYTES = 32;
const GRANULARITY_BYTES = 64;
/** Last generation whose successor still fits into 32 bits; only an attacker would write a higher one. */
const LAST_GENERATION = 0xfffffffe;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** Returns the size of a half for a wrapped data key, with space for its successors. */
export const wrappedKeyBytesFor = (ciphertext: string): number =>
  Math.ceil((OVERHEAD_BYTES + ciphertext.length + ROOM_TO_GROW_BYTES) / GRANULARITY_BYTES) *
  GRANULARITY_BYTES;

/** Returns 0 for the first half, 1 for the second. */
export const halfOf = (generation: number): 0 | 1 => (generation % 2 === 1 ? 0 : 1);

/**
 * Prints a half.
 * @throws `unsupported` if the wrapped data key does not fit, or the generation could not be read back
 */
export function printWrappedKey({ generation, ciphertext }: WrappedKey, bytes: number): Buffer {
  if (bytes > MAX_WRAPPED_KEY_BYTES || OVERHEAD_BYTES + ciphertext.length > bytes) {
    throw unsupported(
      `the wrapped data key, of ${ciphertext.length} bytes, does not fit into the header of the file`,
      {
        hint: 'decrypt the file and encrypt it again',
      },
    );
  }
  if (generation > LAST_GENERATION) {
    throw unsupported('the file was rewrapped as often as its header can count', {
      hint: 'decrypt the file and encrypt it again',
    });
  }
  const half = Buffer.alloc(bytes);
  half.writeUInt32BE(generation);
  half.writeUInt16BE(ciphertext.length, LENGTH_AT);
  half.write(ciphertext, CIPHERTEXT_AT, 'latin1');
  checksumOf(half).copy(half, bytes - CHECKSUM_BYTES);
  return half;
}

const checksumOf = (half: Buffer): Buffer =>
  createHash('sha256')
    .update(half.subarray(0, half.length - CHECKSUM_BYTES))
    .digest();

/** Parses a half; undefined if it is empty or broken. */
function parseHalf(half: Buffer, which: 0 | 1): WrappedKey | undefined {
  const generation = half.readUInt32BE(0);
  const end = CIPHERTEXT_AT + half.readUInt16BE(LENGTH_AT);
  if (generation === 0 || generation > LAST_GENERATION || halfOf(generation) !== which) return undefined;
  if (end > half.length - CHECKSUM_BYTES) return undefined;
  if (!checksumOf(half).equals(half.subarray(half.length - CHECKSUM_BYTES))) return undefined;
  const ciphertext = half.toString('latin1', CIPHERTEXT_AT, end);
  const rest = half.subarray(end, half.length - CHECKSUM_BYTES);
  return PRINTABLE.test(ciphertext) && isEmpty(rest) ? { generation, ciphertext } : undefined;
}

const isEmpty = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

/**
 * Parses both halves.
 * @returns `whole`: whether the other half is empty or a valid predecessor; false means that a rewrap was interrupted
 * by a power failure
 * @throws `inauthentic` if neither contains a wrapped data key
 */
export function parseWrappedKeys(bytes: Buffer) {
  const middle = bytes.length / 2;
  const [first, second] = [bytes.subarray(0, middle), bytes.subarray(middle)];
  const found = [parseHalf(first, 0), parseHalf(second, 1)].filter((key) => key !== undefined);
  const current = found.reduce<WrappedKey | undefined>(
    (newest, key) => (newest !== undefined && newest.generation > key.generation ? newest : key),
    undefined,
  );
  if (current === undefined) throw damaged('its header has no valid wrapped data key');
  const predecessor = found.find((key) => key !== current);
  const spare = halfOf(current.generation) === 0 ? second : first;
  const whole =
    predecessor === undefined ? isEmpty(spare) : predecessor.generation === current.generation - 1;
  return { current, whole };
}

const KEY_VERSION = /^[a-z]+:v([1-9][0-9]*):/;

/** Returns the version of the named key that wrapped a data key; undefined for a ciphertext of an unknown form. */
export function keyVersionOf(ciphertext: string): number | undefined {
  const digits = KEY_VERSION.exec(ciphertext)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const DATA_KEY_BYTES = 32;
const MAC_INFO = utf8('coffer envelope 1 header');
const PAYLOAD_INFO = utf8('coffer envelope 1 payload');

/** Keys of one file, derived from its data key. */
interface FileKeys {
  /** MAC of the sealed header. */
  readonly mac: Buffer;
  /** Key of the chunks. It depends on the MAC, so no chunk opens with another header. */
  readonly payload: KeyObject;
}

/**
 * Derives the keys of one file by HKDF-SHA256 (RFC 5869) and overwrites the data key. HMAC with a key derived by HKDF
 * commits to the data key, which AES-GCM alone does not.
 * @param salt salt of the file, so that a data key used twice would still yield different keys
 */
export function deriveFileKeys(dataKey: Buffer, salt: Buffer, sealedHeader: Buffer): FileKeys {
  if (dataKey.length !== DATA_KEY_BYTES) {
    throw invalid(`the data key has ${dataKey.length} bytes instead of ${DATA_KEY_BYTES}`);
  }
  const macKey = derive(dataKey, salt, MAC_INFO);
  const mac = createHmac('sha256', macKey).update(sealedHeader).digest();
  const payload = derive(dataKey, salt, Buffer.concat([PAYLOAD_INFO, mac]));
  try {
    return { mac, payload: createSecretKey(payload) };
  } finally {
    wipe(dataKey, macKey, payload);
  }
}

const derive = (dataKey: Buffer, salt: Buffer, info: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', dataKey, salt, info, 32));

/**
 * Derives the keys of a file to decrypt.
 * @throws `denied` if the MAC does not match this header and data key
 */
function openFileKeys(dataKey: Buffer, salt: Buffer, sealedHeader: Buffer, mac: Buffer): FileKeys {
  const keys = deriveFileKeys(dataKey, salt, sealedHeader);
  if (!timingSafeEqual(keys.mac, mac)) {
    throw denied('the header of the envelope was changed, or its data key belongs to another file', {
      hint: 'get a fresh copy of the file',
    });
  }
  return keys;
}

/** Description of a header, for output. */
export type EnvelopeDescription = ReturnType<typeof describe>;

export const describe = ({ sealed, wrapped }: EnvelopeHeader) => ({
  format: FORMAT_VERSION,
  algorithm: ALGORITHM_NAME,
  mount: sealed.mount,
  name: sealed.name,
  /** Version of the named key that wraps the data key. */
  keyVersion: keyVersionOf(wrapped.current.ciphertext),
  /** Wrapped data key, a transit ciphertext. */
  wrapped: wrapped.current.ciphertext,
  chunkBytes: sealed.chunkBytes,
  metadata: sealed.metadata,
});

/**
 * Reads a header and nothing after it.
 * @throws `corrupt` or `inauthentic`
 */
export async function readHeader(source: ByteSource): Promise<EnvelopeHeader> {
  const prefix = await readExactly(source, PREFIX_BYTES);
  const layout = parsePrefix(prefix);
  return parseHeader(
    Buffer.concat([prefix, await readExactly(source, layout.payload - PREFIX_BYTES)]),
    layout,
  );
}

/** Parsed header, not authenticated yet. */
type EnvelopeHeader = ReturnType<typeof parseHeader>;

function parseHeader(bytes: Buffer, layout: HeaderLayout) {
  if (bytes.length < layout.payload) throw damaged('it ends within its header');
  const sealedBytes = bytes.subarray(0, layout.mac);
  return {
    sealed: parseSealedHeader(sealedBytes),
    /** Bytes that the MAC covers. */
    sealedBytes,
    mac: bytes.subarray(layout.mac, layout.mac + MAC_BYTES),
    wrapped: parseWrappedKeys(bytes.subarray(layout.halves, layout.payload)),
    halves: layout.halves,
    payload: layout.payload,
  };
}

/**
 * Unwraps the data key and authenticates the header.
 * @param name named key that the caller expects, if any
 * @throws `denied` if the header is not authentic or names another key; `inauthentic` if its spare half is damaged; and
 * any error of the named key
 */
export async function openHeader(header: EnvelopeHeader, keys: DataKeys, name?: string): Promise<FileKeys> {
  requireName(header, name);
  if (!header.wrapped.whole) throw interruptedRewrap();
  const { sealed, sealedBytes, mac } = header;
  const dataKey = await keys.unwrap(sealed, header.wrapped.current.ciphertext);
  return openFileKeys(dataKey, sealed.salt, sealedBytes, mac);
}

/**
 * Checks the key name.
 * @throws `denied` if the header names another key
 */
export function requireName({ sealed }: EnvelopeHeader, name: string | undefined): void {
  if (name === undefined || name === sealed.name) return;
  throw denied(`the envelope is encrypted under key "${sealed.name}", not "${name}"`, {
    hint: 'omit the key name, to use the key that the header names',
  });
}

const interruptedRewrap = (): CofferError =>
  damaged('its header was changed, or a rewrap was interrupted', 'rewrap the file to repair its header');
