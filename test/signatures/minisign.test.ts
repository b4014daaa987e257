import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  parseMinisignKey,
  parseMinisignSignature,
  printMinisignKey,
  printMinisignSignature,
  verifyMinisign,
  verifyMinisignComment,
} from '../../src/signatures/minisign.ts';
import { MESSAGE, MINISIGN_KEY, MINISIGN_SIGNATURES } from './made-by-others.ts';

const key = parseMinisignKey(MINISIGN_KEY);
const dataOf = (hashed: boolean, message = MESSAGE): Buffer =>
  hashed ? createHash('blake2b512').update(message).digest() : Buffer.from(message);

describe("minisign's own signatures", () => {
  it.each([
    ['hashed', MINISIGN_SIGNATURES[0]],
    ['legacy', MINISIGN_SIGNATURES[1]],
  ])('that are %s are valid for the message and no other, with their comment', (_, text) => {
    const found = parseMinisignSignature(text);
    expect(key?.id.equals(found.keyId)).toBe(true);
    if (key === undefined) return;
    expect(verifyMinisign(found, key.key, dataOf(found.hashed))).toBe(true);
    expect(verifyMinisign(found, key.key, dataOf(found.hashed, 'another'))).toBe(false);
    expect(found.comment).toBe(found.hashed ? 'a trusted comment' : 'a legacy comment');
    expect(verifyMinisignComment(found, key.key)).toBe(true);
    expect(verifyMinisignComment({ ...found, comment: 'another' }, key.key)).toBe(false);
  });

  it('are written back as they were', () => {
    const untrusted = 'signature from minisign secret key';
    for (const text of MINISIGN_SIGNATURES) {
      expect(printMinisignSignature(parseMinisignSignature(text), untrusted)).toBe(text);
    }
  });

  it('are refused when a line is missing, cut, or one too many', () => {
    const [text] = MINISIGN_SIGNATURES;
    const lines = text.trimEnd().split('\n');
    const broken = [
      ...lines.map((_, index) => lines.filter((__, other) => other !== index)),
      ...[1, 3].map((index) => lines.map((line, other) => (other === index ? line.slice(0, -4) : line))),
      [...lines, 'one more'],
    ];
    for (const each of broken) {
      expect(() => parseMinisignSignature(each.join('\n'))).toThrow('incomplete');
    }
  });

  it('are refused when they are by another algorithm', () => {
    const [text] = MINISIGN_SIGNATURES;
    const other = text.replace(/^RU/m, 'RX');
    expect(other).not.toBe(text);
    expect(() => parseMinisignSignature(other)).toThrow('unknown minisign signature algorithm');
  });
});

describe('a public key of minisign', () => {
  it('is read as a file and as its second line, and is nothing else', () => {
    expect(parseMinisignKey(MINISIGN_KEY.split('\n')[1] ?? '')?.key.equals(key?.key as never)).toBe(true);
    for (const text of ['', 'RWQ', 'hello', MINISIGN_KEY.replace('RW', 'RX'), `${MINISIGN_KEY}more\n`]) {
      expect(parseMinisignKey(text)).toBeUndefined();
    }
  });

  it('keeps its number from one printing to the next', () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const text = printMinisignKey(publicKey);
    expect(printMinisignKey(publicKey)).toBe(text);
    expect(parseMinisignKey(text)?.key.equals(publicKey)).toBe(true);
    const { publicKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(() => printMinisignKey(rsa)).toThrow('only supports Ed25519 keys');
  });
});
