import { invalid } from '../../ground/errors.ts';
import type { KeyReference } from './ports.ts';
import { damaged, notAnEnvelope, unknownFormat } from './refusals.ts';

/**
 * Part of an envelope's header that never changes and is covered by its MAC. Format: docs/envelope-format.md.
 * @see docs/decisions/0080
 */
export interface SealedHeader extends KeyReference {
  /** Plaintext length of every chunk except the last, in bytes: a power of two. */
  readonly chunkBytes: number;
  /** Length of each half of the wrapped keys that follow, in bytes. */
  readonly wrappedKeyBytes: number;
  /** 32 random bytes, different for every file. */
  readonly salt: Buffer;
  /** User-defined metadata. Authenticated, not encrypted. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** File signature like PNG's: a byte that occurs in no text, and a newline that line ending conversion would change. */
export const MAGIC = Buffer.from('\x89COFFER\n', 'latin1');
export const FORMAT_VERSION = 1;
const AES_256_GCM = 1;
export const ALGORITHM_NAME = 'aes-256-gcm';

export const SALT_BYTES = 32;
export const MAC_BYTES = 32;
/** Length of everything up to and including the salt, in bytes: it determines the lengths of the rest. */
export const PREFIX_BYTES = 48;

const MIN_CHUNK_BITS = 12;
const MAX_CHUNK_BITS = 20;
export const DEFAULT_CHUNK_BYTES = 64 * 1024;
const MIN_WRAPPED_KEY_BYTES = 64;
export const MAX_WRAPPED_KEY_BYTES = 8192;
const MAX_FIELD_BYTES = 0xffff;
const MAX_FIELDS_BYTES = 0xffff;

const CONTROL_CHARACTER = /\p{Cc}/u;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Offsets of the parts of a header, from the start of the envelope. */
export interface HeaderLayout {
  /** End of the sealed header, and start of its MAC. */
  readonly mac: number;
  /** First of the two halves that hold the wrapped data key alternately. */
  readonly halves: number;
  /** First chunk. */
  readonly payload: number;
}

/**
 * Prints a sealed header, without its MAC.
 * @throws `invalid` if a text contains control characters or the texts are too long in total
 */
export function printSealedHeader(header: SealedHeader): Buffer {
  const entries = Object.entries(header.metadata).map(
    ([key, value]) => [printText(key, 'metadata key'), printText(value, 'metadata value')] as const,
  );
  if (entries.some(([key]) => key.length === 2))
    throw invalid('a metadata key is empty', { field: 'metadata' });
  entries.sort(([a], [b]) => Buffer.compare(a.subarray(2), b.subarray(2)));
  const fields = Buffer.concat([
    printText(header.mount, 'mount'),
    printText(header.name, 'key name'),
    ...entries.flat(),
  ]);
  if (fields.length > MAX_FIELDS_BYTES) throw tooLong();
  const prefix = Buffer.alloc(PREFIX_BYTES - SALT_BYTES);
  MAGIC.copy(prefix);
  prefix.writeUInt8(FORMAT_VERSION, 8);
  prefix.writeUInt8(AES_256_GCM, 9);
  prefix.writeUInt8(Math.log2(header.chunkBytes), 10);
  prefix.writeUInt16BE(header.wrappedKeyBytes, 12);
  prefix.writeUInt16BE(fields.length, 14);
  return Buffer.concat([prefix, header.salt, fields]);
}

const tooLong = () =>
  invalid('the metadata is too long', {
    field: 'metadata',
    hint: `use at most ${MAX_FIELDS_BYTES} bytes for the mount, the name of the key and the metadata together`,
  });

/** Prints a text after its length in bytes (16-bit big-endian). */
function printText(text: string, what: string): Buffer {
  if (CONTROL_CHARACTER.test(text) || !text.isWellFormed()) {
    throw invalid(`a ${what} holds a control character or is not valid text`, {
      field: 'metadata',
      hint: 'remove line breaks and other control characters',
    });
  }
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > MAX_FIELD_BYTES) throw tooLong();
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/**
 * Parses the first {@link PREFIX_BYTES} bytes, which determine the layout.
 * @throws `corrupt` if it is not an envelope, or one that this version cannot read; `inauthentic` if it is damaged
 */
export function parsePrefix(
  prefix: Buffer,
): HeaderLayout & Pick<SealedHeader, 'chunkBytes' | 'wrappedKeyBytes' | 'salt'> {
  if (!prefix.subarray(0, MAGIC.length).equals(MAGIC)) throw notAnEnvelope();
  if (prefix.length < PREFIX_BYTES) throw damaged('it ends within its header');
  const version = prefix.readUInt8(8);
  if (version !== FORMAT_VERSION) throw unknownFormat(`format ${version}`);
  const algorithm = prefix.readUInt8(9);
  if (algorithm !== AES_256_GCM) throw unknownFormat(`algorithm ${algorithm}`);
  const chunkBits = prefix.readUInt8(10);
  const wrappedKeyBytes = prefix.readUInt16BE(12);
  const possible =
    chunkBits >= MIN_CHUNK_BITS &&
    chunkBits <= MAX_CHUNK_BITS &&
    prefix.readUInt8(11) === 0 &&
    wrappedKeyBytes >= MIN_WRAPPED_KEY_BYTES &&
    wrappedKeyBytes <= MAX_WRAPPED_KEY_BYTES;
  if (!possible) throw damaged('a size in its header is impossible');
  const mac = PREFIX_BYTES + prefix.readUInt16BE(14);
  const halves = mac + MAC_BYTES;
  return {
    mac,
    halves,
    payload: halves + 2 * wrappedKeyBytes,
    chunkBytes: 2 ** chunkBits,
    wrappedKeyBytes,
    salt: Buffer.from(prefix.subarray(PREFIX_BYTES - SALT_BYTES, PREFIX_BYTES)),
  };
}

/**
 * Parses a sealed header; accepts only what {@link printSealedHeader} prints.
 * @param bytes from the start of the envelope up to the MAC
 * @throws `inauthentic` otherwise
 */
export function parseSealedHeader(bytes: Buffer): SealedHeader {
  const { chunkBytes, wrappedKeyBytes, salt, mac } = parsePrefix(bytes);
  if (mac !== bytes.length) throw brokenFields();
  const [mount, name, ...rest] = parseTexts(bytes.subarray(PREFIX_BYTES));
  if (mount === undefined || name === undefined || rest.length % 2 === 1) throw brokenFields();
  const metadata: [string, string][] = [];
  for (let i = 0; i < rest.length; i += 2) {
    const key = rest[i] ?? '';
    const previous = metadata.at(-1)?.[0] ?? '';
    // Keys are ascending without duplicates, so a header has one encoding; the same comparison excludes an empty key.
    if (Buffer.compare(Buffer.from(previous), Buffer.from(key)) >= 0) throw brokenFields();
    metadata.push([key, rest[i + 1] ?? '']);
  }
  return { mount, name, chunkBytes, wrappedKeyBytes, salt, metadata: Object.fromEntries(metadata) };
}

const brokenFields = () => damaged('the fields of its header are broken');

function parseTexts(fields: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at < fields.length; ) {
    if (at + 2 > fields.length) throw brokenFields();
    const end = at + 2 + fields.readUInt16BE(at);
    if (end > fields.length) throw brokenFields();
    texts.push(parseText(fields.subarray(at + 2, end)));
    at = end;
  }
  return texts;
}

function parseText(bytes: Buffer): string {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    throw brokenFields();
  }
  // Headers are shown on terminals before anything is authenticated.
  if (CONTROL_CHARACTER.test(text)) throw brokenFields();
  return text;
}
