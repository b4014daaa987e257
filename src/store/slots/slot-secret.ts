import { isAscii, isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { utf8 } from '../../ground/bytes.ts';
import { invalid } from '../../ground/errors.ts';
import { MASTER_KEY_BYTES, tryParseMasterKey } from '../master-key.ts';
import type { SlotSecret } from './key-encryption.ts';

/** Length of the shortest content that counts as a key file. */
export const MIN_KEY_FILE_BYTES = 32;
/** Hint for what is not a key. */
const OWN_KEY = 'an existing store needs its own key; for a new store, create one with "coffer keygen"';

/**
 * Validates a raw key.
 * @throws `invalid` unless it has 32 bytes
 */
export function rawKeySecret(key: Uint8Array): SlotSecret {
  if (key.length === MASTER_KEY_BYTES) return { kind: 'key', bytes: Buffer.from(key) };
  throw invalid(`a master key must be ${MASTER_KEY_BYTES} bytes, got ${key.length}`, {
    hint: OWN_KEY,
  });
}

/**
 * Returns the secret of a key file. A master key as text or as 32 bytes counts as that key, so that one from the
 * environment also opens the store from a file. Anything else counts as its SHA-256.
 * @throws `invalid` for content that is short enough to be guessed
 */
export function keyFileSecret(content: Uint8Array): SlotSecret {
  const key = tryParseMasterKey(content);
  if (key !== undefined) return { kind: 'key', bytes: key };
  if (content.length === MASTER_KEY_BYTES) return { kind: 'key', bytes: Buffer.from(content) };
  if (content.length < MIN_KEY_FILE_BYTES) {
    throw invalid(
      `a key file must hold at least ${MIN_KEY_FILE_BYTES} bytes, this one has ${content.length}`,
      { hint: OWN_KEY },
    );
  }
  return { kind: 'key', bytes: createHash('sha256').update(content).digest() };
}

/**
 * Returns the secret in a command's output: a master key as text counts as that key, anything else as a passphrase. One
 * trailing line break is removed.
 * @throws `invalid` if nothing is left, or it is not UTF-8
 */
export function commandSecret(output: Uint8Array): SlotSecret {
  if (!isUtf8(output)) throw invalid('the command must print a master key or a passphrase as UTF-8 text');
  const key = tryParseMasterKey(output);
  if (key !== undefined) return { kind: 'key', bytes: key };
  const line = withoutLineBreak(output);
  if (line.length === 0)
    throw invalid('the command printed nothing', { hint: 'run the command by hand to see why' });
  return passphraseSecret(line);
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Returns a view of the same bytes without one trailing line break. */
export function withoutLineBreak(text: Uint8Array): Uint8Array {
  if (text.at(-1) !== LINE_FEED) return text;
  return text.subarray(0, text.at(-2) === CARRIAGE_RETURN ? -2 : -1);
}

/**
 * Normalizes a passphrase to Unicode NFC, because keyboards and systems differ in how they encode accents.
 * @param passphrase UTF-8 if given as bytes. ASCII has only one form, so it never becomes a string, which could not be
 * overwritten.
 * @throws `invalid` if it is empty
 */
export function passphraseSecret(passphrase: string | Uint8Array): SlotSecret {
  if (passphrase.length === 0) throw invalid('the passphrase must not be empty');
  if (typeof passphrase !== 'string' && isAscii(passphrase)) {
    return { kind: 'passphrase', bytes: Buffer.from(passphrase) };
  }
  const text =
    typeof passphrase === 'string' ? passphrase : new TextDecoder('utf-8', EXACT).decode(passphrase);
  return { kind: 'passphrase', bytes: utf8(text.normalize('NFC')) };
}

const EXACT = { fatal: true, ignoreBOM: true };
