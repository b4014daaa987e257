import { decryption } from './chunk-cipher.ts';
import { describe, type EnvelopeDescription, openHeader, readHeader } from './envelope.ts';
import type { ByteSink, ByteSource, DataKeys, OnProgress } from './ports.ts';
import { pump } from './pump.ts';
import { type ByteRange, Window } from './window.ts';

export interface Decryption {
  readonly keys: DataKeys;
  readonly source: ByteSource;
  /** Takes only what is authentic. After a damaged chunk it has the plaintext up to there. */
  readonly sink: ByteSink;
  /** The named key that the caller expects; any without it. */
  readonly name?: string;
  /** The part that is wanted. All is read and authenticated all the same; `decryptRange` reads less of a file. */
  readonly range?: ByteRange;
  readonly onProgress?: OnProgress;
}

/**
 * Decrypts an envelope from its beginning to its end.
 * @returns its header, which is authentic now.
 * @throws `corrupt` or `denied` when any byte of it was changed, left out, moved or added, `invalid` when the range begins
 * behind the end, and whatever the named key answers.
 */
export async function decryptEnvelope(request: Decryption): Promise<EnvelopeDescription> {
  const { keys, source, sink, name, range = { offset: 0 }, onProgress } = request;
  const header = await readHeader(source);
  const fileKeys = await openHeader(header, keys, name);
  onProgress?.(header.payload);
  const window = new Window(sink, range, 0);
  await pump(source, window, decryption(fileKeys.payload, header.sealed.chunkBytes), onProgress);
  window.requireReached();
  return describe(header);
}
