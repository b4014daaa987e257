import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Chance, streamOf } from './chance.ts';
import { giveKeysTo, withPreparedKeys } from './rsa-keys.ts';
import { SEED } from './seed.ts';

/** Characters of a temporary directory's name that are made up: small, as capitals are longer in names that are made from paths. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const LETTER_COUNT = 6;

/** Functions that draw, before they were replaced. */
const original = { mkdirSync: fs.mkdirSync, getRandomValues: crypto.webcrypto.getRandomValues };
const makers = withPreparedKeys({
  generateKeyPair: crypto.generateKeyPair,
  generateKeyPairSync: crypto.generateKeyPairSync,
});
let bytesOf: Chance;
/** Directories have a stream of their own: whether one is made depends on what other runs have left. */
let namesOf: Chance;

/**
 * The bytes that the code under test draws for itself in this process, and the names of temporary directories, are the same each time
 * for the same seed and file; those of other files come from other streams. Keys and signatures that OpenSSL makes by itself are fresh
 * each time, and so is all that other processes draw.
 * @param file path of the test file that begins
 */
export function chooseFor(file: string): void {
  bytesOf = new Chance(Number(SEED), streamOf(file), streamOf('bytes'));
  namesOf = new Chance(Number(SEED), streamOf(file), streamOf('names'));
  giveKeysTo(file);
}

function fill<T extends NodeJS.ArrayBufferView>(view: T, offset = 0, size = view.byteLength - offset): T {
  const all = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  bytesOf.bytes(size).copy(all, offset);
  return view;
}

function randomBytes(size: number, done?: (error: null, bytes: Buffer) => void): Buffer | undefined {
  const bytes = fill(Buffer.alloc(size));
  if (done === undefined) return bytes;
  process.nextTick(done, null, bytes);
  return undefined;
}

function randomUUID(): string {
  const bytes = bytesOf.bytes(16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function mkdtempSync(prefix: string): string {
  for (;;) {
    const name = Array.from({ length: LETTER_COUNT }, () => namesOf.pick([...LETTERS])).join('');
    try {
      original.mkdirSync(prefix + name, { mode: 0o700 });
      return prefix + name;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Replaces what draws in this process, for all that imports it. */
export function replaceDrawing(): void {
  Object.assign(crypto, { randomBytes, randomFillSync: fill, randomUUID, ...makers });
  Object.assign(crypto.webcrypto, {
    getRandomValues: <T extends NodeJS.ArrayBufferView>(view: T) => fill(view),
  });
  Object.assign(fs, { mkdtempSync });
  Object.assign(fs.promises, { mkdtemp: async (prefix: string) => mkdtempSync(prefix) });
  syncBuiltinESMExports();
}
