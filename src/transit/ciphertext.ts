import { decodeBase64 } from '../ground/base64.ts';
import { type CofferError, corrupt, invalid, ownWords } from '../ground/errors.ts';
import type { Engine } from './engine.ts';
import type { NamedKeyDocument } from './key-document.ts';
import { limitHint } from './version-choice.ts';

/**
 * Common outer form of ciphertexts, signatures and HMACs: `<prefix>v<version>:<payload>`. The text does not tell which
 * of the three it is, or which key it was made with.
 */

/** Both dialects' prefixes are accepted, regardless of the mount's own. */
const KNOWN_STARTS = ['service:v', 'vault:v'] as const;
const SEPARATOR = ':';
const PLACEHOLDER = '{{version}}';

/** Text around the version number. */
export interface VersionFormat {
  readonly starts: readonly string[];
  /** The one of `starts` that is written. */
  readonly written: string;
  readonly separator: string;
}

/** Returns the ciphertext format of the mount; always used for HMACs. */
export const mountFormat = (engine: Engine): VersionFormat => ({
  starts: KNOWN_STARTS,
  written: engine.prefix,
  separator: SEPARATOR,
});

/** Returns the ciphertext format of a key: the mount's, or the template of a restored key. */
export function keyFormat(engine: Engine, { versionTemplate, name }: NamedKeyDocument): VersionFormat {
  if (versionTemplate === '') return mountFormat(engine);
  const [start, separator, ...more] = versionTemplate.split(PLACEHOLDER);
  if (start === undefined || separator === undefined || more.length > 0) {
    throw corrupt(ownWords('error parsing version template'), {
      field: 'name',
      hint: `key "${name}" was damaged before it was restored`,
    });
  }
  return { starts: [start], written: start, separator };
}

/**
 * Prints a payload with its version.
 * @param payload base64 or base64url
 */
export const printVersioned = (format: VersionFormat, version: number, payload: string): string =>
  `${format.written}${version}${format.separator}${payload}`;

/** Names of an input in error messages. */
export interface Noun {
  /** Parameter name. */
  readonly field: string;
  readonly invalid: string;
  /** Text before `: no prefix`, if Vault's differs there. */
  readonly noPrefix?: string;
}

export const CIPHERTEXT: Noun = { field: 'ciphertext', invalid: 'invalid ciphertext' };
export const SIGNATURE: Noun = { field: 'signature', invalid: 'invalid signature' };
export const HMAC: Noun = { field: 'hmac', invalid: 'invalid HMAC', noPrefix: 'invalid HMAC to verify' };

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/**
 * Parses a versioned text.
 * @returns the version as written: it may be 0, negative, or larger than any version of the key
 * @throws `invalid` with Vault's messages: no prefix, wrong number of fields, version not a number
 */
export function parseVersioned(text: string, format: VersionFormat, noun: Noun) {
  const start = format.starts.find((known) => text.startsWith(known));
  if (start === undefined) {
    throw refusal(
      noun,
      `${noun.noPrefix ?? noun.invalid}: no prefix`,
      text.startsWith('{')
        ? `this is JSON: use only the value of its member "${noun.field}", which -o raw prints`
        : `it must start with ${format.starts.join('… or ')}…`,
    );
  }
  const end = text.indexOf(format.separator, start.length);
  if (end < 0)
    throw refusal(noun, `${noun.invalid}: wrong number of fields`, 'the text appears to be truncated');
  const version = parseVersion(text.slice(start.length, end));
  if (version === undefined) {
    throw refusal(
      noun,
      `${noun.invalid}: version number could not be decoded`,
      `expected a version number after "${start}"`,
    );
  }
  return { version, payload: text.slice(end + format.separator.length) };
}

/** Parses a version number like Go's `strconv.Atoi`. */
export function parseVersion(digits: string): number | undefined {
  if (!/^[+-]?\d+$/.test(digits)) return undefined;
  if (digits.length < 16) return Number(digits);
  const value = BigInt(digits.replace('+', ''));
  return value > INT64_MAX || value < INT64_MIN ? undefined : Number(value);
}

/**
 * Checks that a version may be used.
 * @throws `invalid` if it is newer than the key's latest, or below the minimum
 */
export function requireUsableVersion(version: number, key: NamedKeyDocument, noun: Noun): void {
  if (version > key.latestVersion) {
    throw refusal(
      noun,
      `${noun.invalid}: version is too new`,
      `the latest version of this key is ${key.latestVersion}: the ${noun.field} was made with another key, or the key was restored from an older backup`,
    );
  }
  if (version < key.minDecryptionVersion) {
    throw refusal(
      noun,
      'ciphertext or signature version is disallowed by policy (too old)',
      `the ${noun.field} was made with version ${version}, but ${limitHint(key, version, 'decryption')}`,
    );
  }
}

/**
 * Decodes the payload.
 * @throws `invalid` with `message` for any base64 error
 */
export function decodePayload(payload: string, noun: Noun, message: string): Buffer {
  try {
    return decodeBase64(payload);
  } catch {
    throw refusal(
      noun,
      message,
      /[ \t]/.test(payload) ? SPACED : 'expected base64 after the version; it may be truncated',
    );
  }
}

const SPACED = 'remove the spaces in it; line breaks do no harm';

const refusal = ({ field }: Noun, message: string, hint: string): CofferError =>
  invalid(message, { field, hint });
