import { describe, expect, it } from 'vitest';
import { asCofferError } from '../../../src/ground/errors.ts';
import { printChecked } from '../../../src/store/checked-json.ts';
import { parseSlot } from '../../../src/store/slots/slot-file.ts';

const base64 = (length: number): string => Buffer.alloc(length, 7).toString('base64');
const ARGON2ID = { name: 'argon2id', memoryKiB: 65_536, passes: 3, lanes: 4, salt: base64(16) };

/** What reading a slot with a right checksum and this `kdf` comes to, from a file of this name. */
function outcomeWith(kdf: unknown, name = '0123456789abcdef', change: object = {}): string {
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
  try {
    parseSlot(name, printChecked(slot), { file: 'slots/x.json' });
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
    expect(outcomeWith({ name: 'hkdf-sha256', salt: base64(32) })).toBe('read');
  });

  it('is damaged under the name of another slot', () => {
    expect(outcomeWith(ARGON2ID, 'fedcba9876543210')).toBe('corrupt: slots/x.json is damaged');
  });

  it.each([
    ['a salt that argon2id does not take', { ...ARGON2ID, salt: base64(7) }],
    ['no salt', { ...ARGON2ID, salt: '' }],
    ['a salt of another length', { name: 'hkdf-sha256', salt: base64(16) }],
    ['more memory than a file may ask for', { ...ARGON2ID, memoryKiB: 262_145 }],
    ['more passes', { ...ARGON2ID, passes: 9 }],
    ['more lanes', { ...ARGON2ID, lanes: 17 }],
    ['less memory than its lanes need', { ...ARGON2ID, memoryKiB: 31 }],
    ['a function that is not known', { ...ARGON2ID, name: 'scrypt' }],
    ['no function', null],
  ])('is damaged with %s', (_, kdf) => {
    expect(outcomeWith(kdf)).toBe('corrupt: slots/x.json is damaged');
  });

  it.each([
    ['no kind', { kind: undefined }],
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

  it('is of a newer Coffer by its format, which is its own for the kind of recipients', () => {
    const newer = (format: number) =>
      `corrupt: slots/x.json was created by a newer Coffer (format ${format})`;
    const wrapped = base64(100);
    expect(outcomeWith(ARGON2ID, undefined, { format: 2 })).toBe(newer(2));
    expect(outcomeWith(ARGON2ID, undefined, { kind: 'recipient', format: 2, wrapped })).toBe('read');
    expect(outcomeWith(ARGON2ID, undefined, { kind: 'recipient', format: 3, wrapped })).toBe(newer(3));
  });
});
