import { hash as nodeHash } from 'node:crypto';
import { decodeBase64, lendDecoded } from '../ground/base64.ts';
import { asCofferError, invalid, ownWords } from '../ground/errors.ts';
import { DIGEST_HASHES, type DigestHash, type DigestHashName } from './key-types/prehash/digest-hash.ts';

/** Returns the names of all hashes; the default of every operation is `sha2-256`. */
export const hashNames = (): DigestHashName[] => Object.keys(DIGEST_HASHES) as DigestHashName[];

export const DEFAULT_HASH = 'sha2-256';

/** Vault and OpenBao sign and authenticate with SHA-1 for old data, but do not hash with it. */
const NOT_FOR_HASHING = 'sha1';

/** Returns the names of hashes for hashing without a key. */
export const plainHashNames = (): DigestHashName[] => hashNames().filter((name) => name !== NOT_FOR_HASHING);

/** Finds a hash by its exact name; undefined if unknown. */
export const hashNamed = (name: string): DigestHash | undefined =>
  Object.hasOwn(DIGEST_HASHES, name) ? DIGEST_HASHES[name as DigestHashName] : undefined;

/**
 * Hashes bytes.
 * @param input base64
 * @throws `invalid` for base64, format and algorithm, in this order
 */
export function hash(input: string | undefined, algorithm: string, format: string): string {
  if (input === undefined) {
    throw invalid(ownWords('input missing'), { field: 'input', hint: 'give it in base64; it may be empty' });
  }
  return lendInput(input, (bytes) => {
    const { algorithm: nodeName, of } = hashing(algorithm, format);
    return of(nodeHash(nodeName, bytes, 'buffer'));
  });
}

/**
 * Returns the parameters for hashing a stream.
 * @throws `invalid` for format and algorithm, in this order
 */
export function hashing(algorithm: string, format: string) {
  requireFormat(format);
  return {
    algorithm: requireHash(algorithm).nodeName,
    of: (digest: Buffer): string => digest.toString(format),
  };
}

function requireFormat(format: string): asserts format is BinaryFormat {
  if (isBinaryFormat(format)) return;
  throw invalid(`unsupported encoding format ${format}; must be "hex" or "base64"`, {
    field: 'format',
    hint: 'use hex or base64',
  });
}

function requireHash(algorithm: string): DigestHash {
  const found = algorithm === NOT_FOR_HASHING ? undefined : hashNamed(algorithm);
  if (found !== undefined) return found;
  throw invalid(`unsupported algorithm ${algorithm}`, {
    field: 'algorithm',
    hint: `use one of ${plainHashNames().join(', ')}`,
  });
}

/** Text encoding of bytes. */
type BinaryFormat = 'hex' | 'base64';
export const isBinaryFormat = (format: string): format is BinaryFormat =>
  format === 'hex' || format === 'base64';

/**
 * Creates a decoder of base64.
 * @returns throws `invalid` with a message that starts with the attempted action and ends with the decoder's
 */
export const decoding =
  (attempt: string, field: string) =>
  (text: string): Buffer => {
    try {
      return decodeBase64(text);
    } catch (error) {
      throw invalid(`${attempt}: ${asCofferError(error)?.message ?? 'illegal base64 data'}`, {
        field,
        hint: 'use standard base64 with padding',
      });
    }
  };

/**
 * Decodes the input of an operation that hashes.
 * @throws `invalid` with Vault's message
 */
export const decodeInput = decoding('unable to decode input as base64', 'input');

/** Decodes the input into a borrowed buffer; see {@link lendDecoded}. */
export const lendInput = <T>(input: string, use: (bytes: Buffer) => T): T =>
  lendDecoded(input, use, decodeInput);
