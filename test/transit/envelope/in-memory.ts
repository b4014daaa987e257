import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { denied } from '../../../src/ground/errors.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { decryptEnvelope } from '../../../src/transit/envelope/decrypt.ts';
import { encryptEnvelope } from '../../../src/transit/envelope/encrypt.ts';
import type {
  ByteSink,
  ByteSource,
  DataKeys,
  EnvelopeKey,
  KeyReference,
  RewritableFile,
} from '../../../src/transit/envelope/ports.ts';

export const KEY: KeyReference = { mount: 'transit', name: 'backups' };

/** A named key with versions, as small as it can be. */
export class MemoryKeys implements DataKeys {
  readonly #versions: Buffer[] = [randomBytes(32)];
  unwrapped = 0;

  rotate(): void {
    this.#versions.push(randomBytes(32));
  }

  create(): Promise<EnvelopeKey> {
    const plaintext = randomBytes(32);
    return Promise.resolve({ wrapped: this.#wrap(plaintext), plaintext });
  }

  async unwrap(_: KeyReference, wrapped: string): Promise<Buffer> {
    this.unwrapped++;
    return this.#unwrap(wrapped);
  }

  async rewrap(_: KeyReference, wrapped: string): Promise<string> {
    return this.#wrap(this.#unwrap(wrapped));
  }

  #wrap(plaintext: Buffer): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.#versions.length), nonce);
    const bytes = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    return `service:v${this.#versions.length}:${bytes.toString('base64')}`;
  }

  #unwrap(wrapped: string): Buffer {
    const [, version, text = ''] = wrapped.split(':');
    const bytes = Buffer.from(text, 'base64');
    try {
      const key = this.#key(Number(version?.slice(1)));
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
      decipher.setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
    } catch {
      throw denied('cipher: message authentication failed');
    }
  }

  #key(version: number): Buffer {
    const key = this.#versions[version - 1];
    if (key === undefined) throw denied('no such key version');
    return key;
  }
}

/** Hands out `bytes` in pieces of at most `pieceBytes`. */
export function sourceOf(bytes: Uint8Array, pieceBytes = Number.POSITIVE_INFINITY): ByteSource {
  let position = 0;
  return {
    read(into) {
      const piece = bytes.subarray(position, position + Math.min(pieceBytes, into.length));
      into.set(piece);
      position += piece.length;
      return Promise.resolve(piece.length);
    },
  };
}

/** Keeps what it is given. */
export class Collected implements ByteSink {
  readonly #pieces: Buffer[] = [];

  write(bytes: Uint8Array): Promise<void> {
    this.#pieces.push(Buffer.from(bytes));
    return Promise.resolve();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** A file that counts what is read and written. */
export class MemoryFile implements RewritableFile {
  readonly bytes: Buffer;
  bytesRead = 0;
  readonly writes: { readonly position: number; readonly length: number }[] = [];
  flushes = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes);
  }

  get size(): number {
    return this.bytes.length;
  }

  readAt(position: number, into: Uint8Array): Promise<number> {
    const piece = this.bytes.subarray(position, position + into.length);
    into.set(piece);
    this.bytesRead += piece.length;
    return Promise.resolve(piece.length);
  }

  writeAt(position: number, bytes: Uint8Array): Promise<void> {
    this.bytes.set(bytes, position);
    this.writes.push({ position, length: bytes.length });
    return Promise.resolve();
  }

  flush(): Promise<void> {
    this.flushes++;
    return Promise.resolve();
  }
}

export async function encrypted(
  keys: DataKeys,
  plaintext: Uint8Array,
  metadata: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  const sink = new Collected();
  const source = sourceOf(plaintext);
  await encryptEnvelope({ key: KEY, keys, random: systemRandom, source, sink, metadata });
  return sink.bytes;
}

/** What came out, and the error that ended it if any. */
export async function attempt(
  keys: DataKeys,
  envelope: Uint8Array,
  pieceBytes?: number,
): Promise<{ readonly plaintext: Buffer; readonly error: unknown }> {
  const sink = new Collected();
  try {
    await decryptEnvelope({ keys, source: sourceOf(envelope, pieceBytes), sink });
    return { plaintext: sink.bytes, error: undefined };
  } catch (error) {
    return { plaintext: sink.bytes, error };
  }
}
