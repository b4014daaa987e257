import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decryptEnvelope } from '../../../src/transit/envelope/decrypt.ts';
import { encryptEnvelope } from '../../../src/transit/envelope/encrypt.ts';
import { describe as describeHeader, readHeader } from '../../../src/transit/envelope/envelope.ts';
import type { DataKeys } from '../../../src/transit/envelope/ports.ts';
import { Collected, sourceOf } from './in-memory.ts';

/** Written in Python from the description of the format: see test/vectors/envelopes. */
interface Vector {
  readonly title: string;
  readonly mount: string;
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly wrapped: string;
  readonly chunkBytes: number;
  readonly salt: string;
  readonly dataKey: string;
  readonly plaintextBytes: number;
  readonly plaintextSha256: string;
  readonly envelope: string;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../vectors/envelopes/envelopes.json', import.meta.url), 'utf8'),
) as readonly Vector[];

const keysOf = ({ wrapped, dataKey }: Vector): DataKeys => ({
  create: () => Promise.resolve({ wrapped, plaintext: Buffer.from(dataKey, 'hex') }),
  unwrap: (_, given) =>
    given === wrapped ? Promise.resolve(Buffer.from(dataKey, 'hex')) : Promise.reject(new Error(given)),
  rewrap: () => Promise.reject(new Error('not needed')),
});

describe('an envelope written by another implementation', () => {
  it.each(vectors)('is understood here: $title', async (vector) => {
    const envelope = Buffer.from(vector.envelope, 'base64');
    const header = await readHeader(sourceOf(envelope));
    expect(describeHeader(header)).toMatchObject({
      mount: vector.mount,
      name: vector.name,
      metadata: vector.metadata,
      wrapped: vector.wrapped,
      chunkBytes: vector.chunkBytes,
    });
    const sink = new Collected();
    await decryptEnvelope({ keys: keysOf(vector), source: sourceOf(envelope), sink });
    expect(sink.bytes.length).toBe(vector.plaintextBytes);
    expect(createHash('sha256').update(sink.bytes).digest('hex')).toBe(vector.plaintextSha256);
  });

  it.each(vectors.filter(({ chunkBytes }) => chunkBytes === 65_536))(
    'is written here with the same bytes: $title',
    async (vector) => {
      const sink = new Collected();
      await encryptEnvelope({
        key: { mount: vector.mount, name: vector.name },
        keys: keysOf(vector),
        random: { bytes: () => Buffer.from(vector.salt, 'hex') },
        // The plaintext of these is nothing, or the first byte of the pattern, which is 0.
        source: sourceOf(Buffer.alloc(vector.plaintextBytes)),
        sink,
        metadata: vector.metadata,
      });
      expect(sink.bytes.toString('base64')).toBe(vector.envelope);
    },
  );
});
