import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type CofferError, invalid, ownWords } from '../ground/errors.ts';
import { type BatchItem, eachItem, type ItemResult, requireItems } from './batch.ts';
import { HMAC, mountFormat, parseVersioned, printVersioned } from './ciphertext.ts';
import type { Engine } from './engine.ts';
import { decodeInput, decoding, hashNamed, hashNames, lendInput } from './hashing.ts';
import { type KeyVersion, type NamedKey, requireKey, requireNotSoftDeleted } from './named-key.ts';
import { rotatedWhenDue } from './rotation.ts';
import { limitHint, requireExistingVersion, versionForHmac } from './version-choice.ts';

/**
 * Computes HMACs, each printed as `<prefix>v<version>:<base64>`. Every version of a key has a separate HMAC key,
 * whatever its type, and a context has no effect.
 * @param items inputs in base64
 * @param keyVersion 0 for the latest
 * @throws `not-found`; `conflict`; `invalid` for errors that affect the whole call
 */
export async function hmac(
  engine: Engine,
  name: string,
  items: readonly (BatchItem & { readonly input?: string | undefined })[],
  { algorithm, keyVersion }: { readonly algorithm: string; readonly keyVersion: number },
): Promise<ItemResult<string>[]> {
  const found = await requireKey(engine, name, 'encryption key not found');
  requireNotSoftDeleted(found);
  const key = await rotatedWhenDue(engine, found);
  const version = versionForHmac(key, keyVersion);
  const hmacKey = requireHmacKey(version);
  const nodeName = hashNamed(algorithm)?.nodeName;
  if (nodeName === undefined) {
    throw invalid(`unsupported algorithm "${algorithm}"`, { field: 'algorithm', hint: KNOWN });
  }
  requireItems(items);
  const format = mountFormat(engine);
  return eachItem(items, ({ input }) => {
    if (input === undefined) {
      throw invalid(ownWords('missing input for HMAC'), {
        field: 'input',
        hint: 'give it in base64; it may be empty',
      });
    }
    const digest = lendInput(input, (bytes) => createHmac(nodeName, hmacKey).update(bytes).digest('base64'));
    return printVersioned(format, version.number, digest);
  });
}

/**
 * Creates a function that compares HMACs of one key, in constant time. The function throws `invalid` for a malformed
 * text.
 * @throws `invalid` for an unknown algorithm
 */
export function hmacVerifier(engine: Engine, key: NamedKey, algorithm: string) {
  const nodeName = hashNamed(algorithm)?.nodeName;
  if (nodeName === undefined) throw invalidHash(algorithm);
  const format = mountFormat(engine);
  return ({
    input,
    hmac: text,
  }: {
    readonly input?: string | undefined;
    readonly hmac?: string | undefined;
  }) => {
    if (input === undefined) throw missingInput();
    const bytes = decodeInput(input);
    if (text === undefined)
      throw invalid(ownWords('missing hmac'), {
        field: 'hmac',
        hint: 'give the HMAC that "coffer transit hmac NAME" printed',
      });
    const { version: number, payload } = parseVersioned(text, format, HMAC);
    const given = decoding('unable to decode verification HMAC as base64', 'hmac')(payload);
    const hmacKey = requireHmacKey(usableVersion(key, number));
    const expected = createHmac(nodeName, hmacKey).update(bytes).digest();
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
}

function usableVersion(key: NamedKey, number: number): KeyVersion {
  const { latestVersion, minDecryptionVersion } = key.document;
  if (number > latestVersion) {
    throw invalid(ownWords('invalid HMAC: version is too new'), {
      field: 'hmac',
      hint: `the HMAC is of version ${number}, but the latest version of this key is ${latestVersion}: check that it was computed with this key`,
    });
  }
  if (number < minDecryptionVersion) {
    throw invalid(ownWords('cannot verify HMAC: version is too old (disallowed by policy)'), {
      field: 'hmac',
      hint: limitHint(key.document, number, 'decryption'),
    });
  }
  return requireExistingVersion(key, number);
}

const KNOWN = `use one of ${hashNames().join(', ')}`;

/** Creates the error of operations that sign and verify. */
export const invalidHash = (name: string): CofferError =>
  invalid(`invalid hash algorithm "${name}"`, { field: 'hash_algorithm', hint: KNOWN });

export const missingInput = (): CofferError =>
  invalid(ownWords('missing input'), { field: 'input', hint: 'give it in base64; it may be empty' });

function requireHmacKey({ number, hmacKey }: KeyVersion): KeyObject {
  if (hmacKey !== undefined) return hmacKey;
  throw invalid(ownWords('no HMAC key exists for that key version'), {
    field: 'key_version',
    hint: `use a newer version of the key: version ${number} was restored from very old data`,
  });
}
