import { systemRandom } from '../../../src/ground/random.ts';
import { onlyValue } from '../../../src/transit/batch.ts';
import { decrypt } from '../../../src/transit/decrypt.ts';
import { encrypt } from '../../../src/transit/encrypt.ts';
import { type Engine, engineOf } from '../../../src/transit/engine.ts';
import { decryptEnvelope, decryptRange } from '../../../src/transit/envelope/decrypt.ts';
import { halfOf, printWrappedKey, readHeader } from '../../../src/transit/envelope/envelope.ts';
import type { DataKeys } from '../../../src/transit/envelope/ports.ts';
import { rewrapEnvelope } from '../../../src/transit/envelope/rewrap.ts';
import { rewrap } from '../../../src/transit/rewrap.ts';
import type { Chance } from '../../chance.ts';
import { memoryStore } from '../../store/memory-store.ts';

import { Collected, MemoryFile, sourceOf } from '../../transit/envelope/in-memory.ts';
import vectors from '../../vectors/envelopes/envelopes.json' with { type: 'json' };
import { restoreGoKeys } from '../go-keys.ts';
import { shorterBytes, spoiledBytes } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { unchanged } from '../store-content.ts';
import { Defect, target, type World } from '../target.ts';

interface Reading {
  readonly how: 'header' | 'decrypt' | 'range' | 'rewrap';
  readonly bytes: Buffer;
  /** Which of the envelopes it was before. */
  readonly from: number;
  readonly offset: number;
  readonly length: number;
  /** Bytes that come at once. */
  readonly piece: number;
}

const TAG_BYTES = 16;
const KEY_NAME = 'aes256-gcm96';
/** Longer envelopes cost more than they find. */
const MAX_ENVELOPE_CHARACTERS = 20_000;

interface Sealed {
  readonly bytes: Buffer;
  readonly plaintext: Buffer;
  /** Where its header ends: that is where most changes belong. */
  readonly payload: number;
  /** Bytes of a chunk with its tag. */
  readonly stride: number;
}

/** The vectors, with each data key under a name of its own: wrapped keys are outside of what a header authenticates. */
async function sealedVectors(engine: Engine): Promise<{ keys: DataKeys; envelopes: Sealed[] }> {
  const wrappedHere = new Map<string, string>();
  const keys = dataKeysOf(engine, wrappedHere);
  const envelopes: Sealed[] = [];
  for (const { envelope, dataKey } of vectors) {
    if (envelope.length > MAX_ENVELOPE_CHARACTERS) continue;
    const bytes = Buffer.from(envelope, 'base64');
    const { sealed, wrapped, halves, payload } = await readHeader(sourceOf(bytes));
    const ciphertext = `service:v1:${envelopes.length}`;
    wrappedHere.set(ciphertext, await encryptedKey(engine, Buffer.from(dataKey, 'hex')));
    const { generation } = wrapped.current;
    bytes.fill(0, halves, payload);
    bytes.set(
      printWrappedKey({ generation, ciphertext }, sealed.wrappedKeyBytes),
      halves + halfOf(generation) * sealed.wrappedKeyBytes,
    );
    const sink = new Collected();
    await decryptEnvelope({ keys, source: sourceOf(bytes), sink });
    envelopes.push({ bytes, plaintext: sink.bytes, payload, stride: sealed.chunkBytes + TAG_BYTES });
  }
  return { keys, envelopes };
}

async function encryptedKey(engine: Engine, dataKey: Buffer): Promise<string> {
  const item = { plaintext: dataKey.toString('base64'), keyVersion: 0 };
  const options = { type: '', convergentEncryption: false, mayCreate: false, mayUpdate: true };
  return onlyValue(await encrypt(engine, KEY_NAME, [item], options)).ciphertext;
}

const dataKeysOf = (engine: Engine, wrappedHere: ReadonlyMap<string, string>): DataKeys => ({
  create: () => Promise.reject(new Error('nobody asks for a data key')),
  async unwrap(_key, wrapped) {
    return onlyValue(await decrypt(engine, KEY_NAME, [{ ciphertext: wrappedHere.get(wrapped) ?? wrapped }]));
  },
  async rewrap(_key, wrapped) {
    const item = { ciphertext: wrappedHere.get(wrapped) ?? wrapped };
    return onlyValue(await rewrap(engine, KEY_NAME, [item])).ciphertext;
  },
});

async function open(_chance: Chance, secrets: Secrets): Promise<World<Reading>> {
  const clock = { now: () => 1_772_352_000_500 };
  const store = await memoryStore({ clock });
  const mount = { type: 'transit', path: 'transit', description: '', accessor: 'a', uuid: 'u', options: {} };
  const engine = engineOf({ store, clock, random: systemRandom, mount, dialect: 'service' });
  await restoreGoKeys(engine, secrets);
  for (const { dataKey } of vectors) secrets.add('a data key', Buffer.from(dataKey, 'hex'));
  const { keys, envelopes } = await sealedVectors(engine);
  const requireUnchanged = await unchanged(store);
  const all = envelopes.map(({ bytes }) => bytes);
  return {
    generate: (chance) => reading(chance, envelopes, all),
    async check(input) {
      const original = envelopes[input.from];
      if (original !== undefined) await checkReading(input, original, keys, secrets);
    },
    print: ({ bytes, ...rest }) => `${JSON.stringify(rest)} ${bytes.toString('hex')}`,
    *simpler(input) {
      for (const bytes of shorterBytes(input.bytes)) yield { ...input, bytes };
    },
    async close() {
      await requireUnchanged();
      store.close();
    },
  };
}

function reading(chance: Chance, envelopes: readonly Sealed[], all: readonly Buffer[]): Reading {
  const from = chance.below(envelopes.length);
  const { bytes, payload, stride } = envelopes[from] as Sealed;
  const header = bytes.subarray(0, payload);
  const spoilers = [
    () => Buffer.concat([spoiledBytes(chance, header, all), bytes.subarray(payload)]),
    () => spoiledBytes(chance, bytes, all),
    () => Buffer.concat([header, ...otherChunks(chance, bytes.subarray(payload), stride)]),
  ];
  const spoiled = chance.pick(spoilers)();
  return {
    how: chance.pick(['header', 'decrypt', 'decrypt', 'range', 'range', 'rewrap']),
    bytes: chance.oneIn(50) ? bytes : spoiled,
    from,
    offset: chance.oneIn(10) ? chance.below(2 ** 31) * 2 ** 20 : chance.size(10_000),
    length: chance.size(10_000),
    piece: chance.oneIn(3) ? 1 + chance.size(100) : Number.POSITIVE_INFINITY,
  };
}

/** Whole chunks, as they are, but not all of them, not once each, or not in their order. */
function otherChunks(chance: Chance, payload: Buffer, stride: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < payload.length; at += stride) chunks.push(payload.subarray(at, at + stride));
  const at = chance.below(chunks.length);
  if (chance.oneIn(3)) return chunks.slice(0, at);
  if (chance.oneIn(2)) return chunks.toSpliced(at, 1);
  return chunks.toSpliced(at, 0, chance.pick(chunks.length === 0 ? [Buffer.alloc(0)] : chunks));
}

async function checkReading(
  input: Reading,
  original: Sealed,
  keys: DataKeys,
  secrets: Secrets,
): Promise<void> {
  const { how, bytes, offset, length, piece } = input;
  const sink = new Collected();
  if (how === 'header') {
    await secrets.outcome(() => readHeader(sourceOf(bytes, piece)));
  } else if (how === 'rewrap') {
    await checkRewrap(bytes, keys, secrets);
  } else if (how === 'decrypt') {
    const outcome = await secrets.outcome(() =>
      decryptEnvelope({ keys, source: sourceOf(bytes, piece), sink }),
    );
    requireTruth(sink.bytes, original.plaintext, 0, 'value' in outcome);
  } else {
    const range = { offset, length };
    const outcome = await secrets.outcome(() =>
      decryptRange({ keys, file: new MemoryFile(bytes), sink, range }),
    );
    if ('value' in outcome && outcome.value.size !== original.plaintext.length) {
      throw new Defect(`another size came out: ${outcome.value.size}`);
    }
    requireTruth(sink.bytes, original.plaintext.subarray(offset, offset + length), 0, 'value' in outcome);
  }
}

async function checkRewrap(bytes: Buffer, keys: DataKeys, secrets: Secrets): Promise<void> {
  const file = new MemoryFile(bytes);
  const outcome = await secrets.outcome(() => rewrapEnvelope({ keys, file }));
  if ('refused' in outcome && !file.bytes.equals(bytes))
    throw new Defect('a refused rewrap has changed the file');
}

/** What comes out is the plaintext or, before an error, a beginning of it. */
function requireTruth(given: Buffer, plaintext: Buffer, from: number, whole: boolean): void {
  if (!given.equals(plaintext.subarray(from, from + given.length)))
    throw new Defect('another plaintext came out');
  if (whole && given.length !== plaintext.length) throw new Defect('a part was taken for the whole');
}

export const envelopes = target<Reading>({ name: 'envelopes', cases: 30_000, open });
