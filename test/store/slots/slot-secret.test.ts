import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { commandSecret, keyFileSecret, passphraseSecret } from '../../../src/store/slots/slot-secret.ts';
import { refusal } from '../../refusal.ts';

const KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const key = (bytes: Buffer) => ({ kind: 'key', bytes });
const passphrase = (text: string) => ({ kind: 'passphrase', bytes: Buffer.from(text) });

describe('the secret of a key file', () => {
  it('is a master key, as text or as its 32 bytes, or else the digest of the file', () => {
    const others = [33, 64].map((length) => Buffer.alloc(length, 0xfe));
    for (const content of [
      KEY,
      Buffer.from(KEY.toString('base64')),
      Buffer.from(`${KEY.toString('hex')}\n`),
    ]) {
      expect(keyFileSecret(content)).toEqual(key(KEY));
    }
    for (const content of others) {
      expect(keyFileSecret(content)).toEqual(key(createHash('sha256').update(content).digest()));
    }
  });

  it('is refused when it is short enough to be guessed', () => {
    expect(refusal(() => keyFileSecret(Buffer.alloc(31, 0xfe))).message).toBe(
      'a key file must hold at least 32 bytes, this one has 31',
    );
  });
});

describe('the secret that a command prints', () => {
  it('is a master key, or a passphrase without one line break at its end', () => {
    expect(commandSecret(Buffer.from(`${KEY.toString('base64')}\n`))).toEqual(key(KEY));
    for (const [printed, text] of [
      ['a b', 'a b'],
      ['a b\n', 'a b'],
      ['a b\r\n', 'a b'],
      ['a b\n\n', 'a b\n'],
      ['a b\r', 'a b\r'],
      [' a', ' a'],
    ] as const) {
      expect(commandSecret(Buffer.from(printed))).toEqual(passphrase(text));
    }
  });

  it('is refused when nothing is left of it, or it is no text', () => {
    for (const printed of ['', '\n', '\r\n']) {
      expect(refusal(() => commandSecret(Buffer.from(printed))).message).toBe('the command printed nothing');
    }
    expect(refusal(() => commandSecret(Buffer.of(0xff))).message).toContain('as UTF-8 text');
  });
});

it('a passphrase is the same however its accents are written, and never empty', () => {
  for (const written of ['\u00e9', 'e\u0301', Buffer.from('\u00e9'), Buffer.from('e\u0301')]) {
    expect(passphraseSecret(written)).toEqual(passphrase('\u00e9'));
  }
  for (const empty of ['', Buffer.alloc(0)]) {
    expect(refusal(() => passphraseSecret(empty)).message).toBe('the passphrase must not be empty');
  }
});
