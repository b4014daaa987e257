import { describe, expect, it } from 'vitest';
import { asCofferError } from '../../../src/ground/errors.ts';
import { printChecked } from '../../../src/store/checked-json.ts';
import { parseSlot, type Slot } from '../../../src/store/slots/slot-keys.ts';

const base64 = (length: number): string => Buffer.alloc(length, 7).toString('base64');
const ARGON2ID = { name: 'argon2id', memoryKiB: 65_536, passes: 3, lanes: 4, salt: base64(16) };

/** A slot with a right checksum and this `kdf`, read from a file of this name. */
function read(kdf: unknown, name = '0123456789abcdef', change: object = {}): Slot {
  const slot = {
    format: 1,
    id: '0123456789abcdef',
    kind: 'passphrase',
    created: '2026-01-01T00:00:00Z',
    kdf,
    publicKey: base64(32),
    sealedKeys: base64(80),
    rootKey: { ephemeralKey: base64(32), sealed: base64(48) },
    ...change,
  };
  return parseSlot(name, printChecked(slot), { file: 'slots/x.json' });
}

/** What reading it comes to. */
function outcomeWith(kdf: unknown, name?: string, change?: object): string {
  try {
    read(kdf, name, change);
    return 'read';
  } catch (error) {
    const known = asCofferError(error);
    return known === undefined ? String(error) : `${known.kind}: ${known.message}`;
  }
}

describe('a slot file', () => {
  it('is read with the parameters of docs/format.md, and with greater ones up to the limits there', () => {
    expect(outcomeWith(ARGON2ID)).toBe('read');
    expect(outcomeWith({ ...ARGON2ID, memoryKiB: 262_144, passes: 8, lanes: 16 })).toBe('read');
    expect(outcomeWith({ ...ARGON2ID, memoryKiB: 32, passes: 1 })).toBe('read');
    expect(outcomeWith({ ...ARGON2ID, memoryKiB: 8, passes: 1, lanes: 1 })).toBe('read');
    expect(outcomeWith({ name: 'hkdf-sha256', salt: base64(32) })).toBe('read');
  });

  it('is damaged under the name of another slot', () => {
    expect(outcomeWith(ARGON2ID, 'fedcba9876543210')).toBe('corrupt: slots/x.json is damaged');
  });

  it.each([
    ['nothing', ''],
    ['capitals', '0123456789ABCDEF'],
    ['a digit too few', '0123456789abcde'],
    ['a digit too many', '0123456789abcdef0'],
    ['a path', '../456789abcdef'],
  ])('is damaged when its ID is %s, as its name says', (_, id) => {
    expect(outcomeWith(ARGON2ID, id, { id })).toBe('corrupt: slots/x.json is damaged');
  });

  it.each([
    ['a salt that argon2id does not take', { ...ARGON2ID, salt: base64(7) }],
    ['no salt', { ...ARGON2ID, salt: '' }],
    ['a salt of another length', { name: 'hkdf-sha256', salt: base64(16) }],
    ['more memory than a file may ask for', { ...ARGON2ID, memoryKiB: 262_145 }],
    ['more passes', { ...ARGON2ID, passes: 9 }],
    ['more lanes', { ...ARGON2ID, lanes: 17 }],
    ['less memory than its lanes need', { ...ARGON2ID, memoryKiB: 31 }],
    ['no passes', { ...ARGON2ID, passes: 0 }],
    ['no lanes', { ...ARGON2ID, lanes: 0 }],
    ['half a pass more', { ...ARGON2ID, passes: 3.5 }],
    ['lanes in words', { ...ARGON2ID, lanes: '4' }],
    ['memory in words', { ...ARGON2ID, memoryKiB: '65536' }],
    ['a salt that is no text', { ...ARGON2ID, salt: 7 }],
    ['a function that is not known', { ...ARGON2ID, name: 'scrypt' }],
    ['no function', null],
  ])('is damaged with %s', (_, kdf) => {
    expect(outcomeWith(kdf)).toBe('corrupt: slots/x.json is damaged');
  });

  it.each([
    ['no ID', { id: undefined }],
    ['the ID of another', { id: 'fedcba9876543210' }],
    ['no kind', { kind: undefined }],
    ['a format in words', { format: '2', kdf: null }],
    ['a kind that is not known', { kind: 'card' }],
    ['no time', { created: 7 }],
    ['no public key', { publicKey: undefined }],
    ['an empty public key', { publicKey: '' }],
    ['a public key that is too short', { publicKey: base64(31) }],
    ['a public key that is too long', { publicKey: base64(33) }],
    ['no keys', { sealedKeys: '' }],
    ['no root key', { rootKey: null }],
    ['half a root key', { rootKey: { ephemeralKey: base64(32) } }],
    ['a wrapped secret that another kind does not have', { wrapped: base64(100) }],
    ['no wrapped secret where its kind has one', { kind: 'recipient', format: 2 }],
    ['a wrapped secret that is too long', { kind: 'recipient', format: 2, wrapped: base64(16 * 1024 + 1) }],
  ])('is damaged when it has %s', (_, change) => {
    expect(outcomeWith(ARGON2ID, undefined, change)).toBe('corrupt: slots/x.json is damaged');
  });

  it('says of how many shares any so many open it, or nothing of it', () => {
    const sharesOf = (shares: unknown) => read(ARGON2ID, undefined, { kind: 'shares', shares }).shares;
    expect(sharesOf({ count: 3, threshold: 2, more: 1 })).toEqual({ count: 3, threshold: 2 });
    for (const wrong of [null, 3, { count: 3 }, { threshold: 2 }, { count: '3', threshold: 2 }])
      expect(sharesOf(wrong)).toBeUndefined();
  });

  it('is of a newer Coffer by its format, which is its own for the kind of recipients', () => {
    const newer = (format: number) =>
      `corrupt: slots/x.json was created by a newer Coffer (format ${format})`;
    const wrapped = base64(100);
    expect(outcomeWith(ARGON2ID, undefined, { format: 2 })).toBe(newer(2));
    expect(outcomeWith(ARGON2ID, undefined, { kind: 'recipient', format: 2, wrapped })).toBe('read');
    expect(outcomeWith(ARGON2ID, undefined, { kind: 'recipient', format: 3, wrapped })).toBe(newer(3));
  });
});
