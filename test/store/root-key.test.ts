import { hkdfSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { lengthPrefixed } from '../../src/ground/bytes.ts';
import { Survey } from '../../src/store/administration/survey.ts';
import type { BlobRef } from '../../src/store/backends/backend.ts';
import { RootKey } from '../../src/store/root-key.ts';
import { openOnce, sealOnce } from '../../src/store/single-use-seal.ts';
import { refusal } from '../refusal.ts';

/** Anything sealed under a name with the keys of a store, as only someone who has them can do it. */
function sealedAs(root: RootKey, { name }: BlobRef, fields: readonly string[]): Buffer {
  const purpose = 'coffer/1/sealed file';
  const secret = hkdfSync('sha256', root.export(), root.storeId, 'coffer/1/sealing key', 32);
  const salt = Buffer.alloc(32, 1);
  const associatedData = lengthPrefixed(purpose, root.storeId, name);
  const context = { secret: Buffer.from(secret), salt, purpose, associatedData };
  return sealOnce(context, lengthPrefixed(...fields), Buffer.of(1), salt);
}

describe('a sealed blob', () => {
  const root = new RootKey(Buffer.alloc(32, 7), 'a store', 1);
  const identity = { space: 'document', collection: 'things', id: 'one' } as const;
  const { ref, bytes } = root.seal(identity, '{"a":1}');
  const why = (changed: Uint8Array, under = root) =>
    refusal(() => under.open(ref, changed, { file: 'documents/x' }));

  it('opens under its name, with the identity that is in it', () => {
    expect(root.open(ref, bytes, { file: 'documents/x' })).toEqual({ identity, json: '{"a":1}' });
  });

  it('is told to be truncated below the 49 bytes that each has, and to be another above', () => {
    for (const length of [0, 1, 48])
      expect(why(bytes.subarray(0, length))).toMatchObject({
        kind: 'corrupt',
        message: 'documents/x is damaged: it is truncated',
      });
    for (const length of [49, bytes.length - 1])
      expect(why(bytes.subarray(0, length))).toMatchObject({
        kind: 'corrupt',
        message: 'documents/x is damaged: its content was changed, or is that of another file',
      });
  });

  it('is told to be of another format by its first byte', () => {
    expect(why(Buffer.from(bytes).fill(2, 0, 1))).toMatchObject({
      kind: 'corrupt',
      message: 'documents/x is damaged: its format is unknown',
    });
  });

  it('may be of an empty text', () => {
    expect(root.open(ref, root.seal(identity, '').bytes, { file: 'documents/x' }).json).toBe('');
  });

  it.each([
    ['of no kind that there is', ['letter', 'things', 'one', '{}']],
    ['without an ID', ['document', 'things']],
    ['without a collection', ['document']],
    ['without a text', ['document', 'things', 'one']],
    ['with nothing', []],
  ])('that was sealed with the right key %s has no ID', (_, fields) => {
    expect(why(sealedAs(root, ref, fields))).toMatchObject({
      kind: 'corrupt',
      message: 'documents/x is damaged: it has no ID',
    });
  });

  it('is misplaced when it has the content of another, sealed with the right key', () => {
    const survey = new Survey(root, () => ({ file: 'documents/x' }));
    expect(survey.take({ ref, bytes })).toMatchObject({ identity });
    const other = sealedAs(root, ref, ['document', 'things', 'two', '{}']);
    expect(survey.take({ ref, bytes: other })).toBeUndefined();
    expect(survey.damaged.get(ref.name)?.reason).toBe(
      'is misplaced: it has the content of another file of the store',
    );
  });

  it('is another in another generation of the same key, and in another store', () => {
    const message = 'documents/x is damaged: its content was changed, or is that of another file';
    for (const other of [
      new RootKey(Buffer.alloc(32, 7), 'another store', 1),
      new RootKey(Buffer.alloc(32, 8), 'a store', 1),
    ])
      expect(why(bytes, other)).toMatchObject({ kind: 'corrupt', message });
  });
});

describe('a message that is sealed once', () => {
  const context = {
    secret: Buffer.alloc(32, 7),
    salt: Buffer.alloc(32),
    purpose: 'test',
    associatedData: Buffer.of(1),
  };

  it('may be empty, and is none when it is shorter than its tag', () => {
    const sealed = sealOnce(context, Buffer.alloc(0));
    expect(openOnce(context, sealed)).toEqual(Buffer.alloc(0));
    for (let length = 0; length < 16; length++)
      expect(openOnce(context, sealed.subarray(0, length))).toBeUndefined();
    expect(openOnce({ ...context, associatedData: Buffer.of(2) }, sealed)).toBeUndefined();
  });
});
