import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { rewrapEnvelope } from '../../../src/transit/envelope/rewrap.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { attempt, encrypted, MemoryFile, MemoryKeys } from './in-memory.ts';

const plaintext = randomBytes(200_000);

async function rotatedFile(): Promise<{ readonly keys: MemoryKeys; readonly file: MemoryFile }> {
  const keys = new MemoryKeys();
  const file = new MemoryFile(await encrypted(keys, plaintext, { host: 'db-1' }));
  keys.rotate();
  return { keys, file };
}

const wrappedIn = (bytes: Buffer): string[] =>
  [...bytes.toString('latin1').matchAll(/service:v\d+:[\w+/=]+/g)].map(([text]) => text.slice(0, 10));

describe('a rewrap', () => {
  it('moves the file to the latest version of its key, and it still decrypts', async () => {
    const { keys, file } = await rotatedFile();
    expect(await rewrapEnvelope({ keys, file })).toEqual({ from: 1, to: 2 });
    expect((await attempt(keys, file.bytes)).plaintext.equals(plaintext)).toBe(true);
    for (const version of [3, 4, 5]) {
      keys.rotate();
      expect(await rewrapEnvelope({ keys, file })).toEqual({ from: version - 1, to: version });
      const { plaintext: back, error } = await attempt(keys, file.bytes);
      expect(error).toBeUndefined();
      expect(back.equals(plaintext)).toBe(true);
    }
  });

  it('reads the header only, writes the wrapped keys only, and leaves no older wrapped key behind', async () => {
    const { keys, file } = await rotatedFile();
    const headerBytes = file.size - plaintext.length - 4 * 16;
    const before = Buffer.from(file.bytes);
    const wrappedKeys = headerBytes - 2 * before.readUInt16BE(12);
    await rewrapEnvelope({ keys, file });
    expect(file.bytesRead).toBe(headerBytes);
    expect(
      file.writes.every(
        ({ position, length }) => position >= wrappedKeys && position + length <= headerBytes,
      ),
    ).toBe(true);
    expect(file.bytes.subarray(0, wrappedKeys).equals(before.subarray(0, wrappedKeys))).toBe(true);
    expect(file.bytes.subarray(headerBytes).equals(before.subarray(headerBytes))).toBe(true);
    expect(wrappedIn(file.bytes.subarray(0, headerBytes))).toEqual(['service:v2']);
  });

  it('never needs the data key', async () => {
    const { keys, file } = await rotatedFile();
    await rewrapEnvelope({ keys, file });
    expect(keys.unwrapped).toBe(0);
  });

  it.each([1, 2, 3, 4])('killed at step %i leaves a file that opens', async (steps) => {
    const { keys, file } = await rotatedFile();
    const dying = dyingAfter(file, steps);
    await rewrapEnvelope({ keys, file: dying }).catch(() => {});
    const { plaintext: back, error } = await attempt(keys, file.bytes);
    expect(error).toBeUndefined();
    expect(back.equals(plaintext)).toBe(true);
  });

  it.each(['the new half', 'the old half'])(
    'repairs a header whose rewriting stopped in the middle of %s',
    async (which) => {
      const { keys, file } = await rotatedFile();
      const headerBytes = file.size - plaintext.length - 4 * 16;
      const halfBytes = file.bytes.readUInt16BE(12);
      const [first, second] = [headerBytes - 2 * halfBytes, headerBytes - halfBytes];
      if (which === 'the old half') await rewrapEnvelope({ keys, file });
      file.bytes.fill(
        0x5a,
        which === 'the old half' ? first : second,
        (which === 'the old half' ? first : second) + 20,
      );
      expect((await attempt(keys, file.bytes)).error).toMatchObject({
        kind: 'inauthentic',
        message: 'the envelope is damaged: its header was changed, or a rewrap was interrupted',
        hint: 'rewrap the file to repair its header',
      });
      await rewrapEnvelope({ keys, file });
      const { plaintext: back, error } = await attempt(keys, file.bytes);
      expect(error).toBeUndefined();
      expect(back.equals(plaintext)).toBe(true);
    },
  );

  it('refuses a file of another key than the one expected, and leaves it as it was', async () => {
    const { keys, file } = await rotatedFile();
    const before = Buffer.from(file.bytes);
    expect(await rejectionOf(rewrapEnvelope({ keys, file, name: 'other' }))).toMatchObject({
      kind: 'denied',
      message: 'the envelope is encrypted under key "backups", not "other"',
      hint: 'omit the key name, to use the key that the header names',
    });
    expect(file.bytes.equals(before)).toBe(true);
  });

  it('refuses a wrapped key that has become too long, and leaves the file as it was', async () => {
    const { keys, file } = await rotatedFile();
    const before = Buffer.from(file.bytes);
    keys.rewrap = () => Promise.resolve(`service:v2:${'x'.repeat(500)}`);
    expect(await rejectionOf(rewrapEnvelope({ keys, file }))).toMatchObject({
      kind: 'unsupported',
      message: 'the wrapped data key, of 511 bytes, does not fit into the header of the file',
    });
    expect(file.bytes.equals(before)).toBe(true);
  });

  it('leaves a file alone whose wrapped key the named key does not open', async () => {
    const { file } = await rotatedFile();
    const before = Buffer.from(file.bytes);
    const stranger = new MemoryKeys();
    expect(await rejectionOf(rewrapEnvelope({ keys: stranger, file }))).toMatchObject({ kind: 'denied' });
    expect(file.bytes.equals(before)).toBe(true);
  });
});

/** The same file, whose process dies at write or flush number `steps` (which is still done). */
function dyingAfter(file: MemoryFile, steps: number): MemoryFile {
  let left = steps;
  const step = async (work: () => Promise<void>): Promise<void> => {
    if (left === 0) throw new Error('killed');
    left--;
    await work();
  };
  const dying = Object.create(file) as MemoryFile;
  dying.writeAt = (position, bytes) => step(() => file.writeAt(position, bytes));
  dying.flush = () => step(() => file.flush());
  return dying;
}
