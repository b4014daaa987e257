import { createHash } from 'node:crypto';
import { utf8 } from '../../bytes.ts';
import { invalid } from '../../errors.ts';
import { MASTER_KEY_BYTES, tryParseMasterKey } from '../master-key.ts';
import type { SlotSecret } from './key-encryption.ts';

const MIN_KEY_FILE_BYTES = 32;

/** @throws `invalid` when it isn't 32 bytes. */
export function rawKeySecret(key: Uint8Array): SlotSecret {
  if (key.length === MASTER_KEY_BYTES) return { kind: 'key', bytes: Buffer.from(key) };
  throw invalid(`a master key must be ${MASTER_KEY_BYTES} bytes, got ${key.length}`, {
    hint: 'make one with "coffer keygen"',
  });
}

/**
 * A master key as text or as 32 bytes counts as that key, so that what opens a store from the environment opens
 * it from a file as well. Anything else counts as its SHA-256.
 * @throws `invalid` for content that could be guessed because it is short.
 */
export function keyFileSecret(content: Uint8Array): SlotSecret {
  const key = tryParseMasterKey(Buffer.from(content).toString('latin1'));
  if (key !== undefined) return { kind: 'key', bytes: key };
  if (content.length === MASTER_KEY_BYTES) return { kind: 'key', bytes: Buffer.from(content) };
  if (content.length < MIN_KEY_FILE_BYTES) {
    throw invalid(
      `a key file must hold at least ${MIN_KEY_FILE_BYTES} bytes, this one has ${content.length}`,
      {
        hint: 'make one with "coffer keygen"',
      },
    );
  }
  return { kind: 'key', bytes: createHash('sha256').update(content).digest() };
}

/**
 * A master key as text counts as that key, anything else as a passphrase. One line break at the end is not part of it.
 * @throws `invalid` when nothing is left, or it isn't UTF-8.
 */
export function commandSecret(output: Uint8Array): SlotSecret {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(output);
  } catch {
    throw invalid('the command must print a master key or a passphrase as UTF-8 text');
  }
  const key = tryParseMasterKey(text);
  if (key !== undefined) return { kind: 'key', bytes: key };
  const line = text.replace(/\r?\n$/, '');
  if (line === '') throw invalid('the command printed nothing', { hint: 'run it by hand and see' });
  return passphraseSecret(line);
}

/**
 * The passphrase in Unicode's composed form (NFC), for keyboards and systems differ in how they send accents.
 * @throws `invalid` when it is empty.
 */
export function passphraseSecret(passphrase: string): SlotSecret {
  if (passphrase === '') throw invalid('the passphrase must not be empty');
  return { kind: 'passphrase', bytes: utf8(passphrase.normalize('NFC')) };
}
