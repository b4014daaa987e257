import { decryption, TAG_BYTES } from './chunk-cipher.ts';
import { openHeader, readHeader } from './envelope.ts';
import type { ByteSink, ByteSource, DataKeys, OnProgress, RandomAccessSource } from './ports.ts';
import { type ChunkStage, pump } from './pump.ts';
import { truncated } from './refusals.ts';
import { sequential } from './sequential.ts';
import { type ByteRange, endOf, requireInside, Window } from './window.ts';

export interface RangeDecryption {
  readonly keys: DataKeys;
  readonly file: RandomAccessSource;
  /** Takes only what is authentic. */
  readonly sink: ByteSink;
  readonly range: ByteRange;
  /** The named key that the caller expects; any without it. */
  readonly name?: string;
  readonly onProgress?: OnProgress;
}

/** Where chunks lie and how many there are, from sizes alone. */
interface Payload {
  /** Bytes of plaintext. */
  readonly size: number;
  readonly chunks: number;
  /** From the start of one chunk to the start of the next. */
  readonly stride: number;
}

/**
 * What the size of a payload tells.
 * @param bytes From the first chunk to the end.
 * @throws `corrupt` for a size that no payload has.
 */
export function payloadOf(bytes: number, chunkBytes: number): Payload {
  const stride = chunkBytes + TAG_BYTES;
  const chunks = Math.max(1, Math.ceil(bytes / stride));
  const lastBytes = bytes - (chunks - 1) * stride;
  if (lastBytes < TAG_BYTES || (lastBytes === TAG_BYTES && chunks > 1)) throw truncated();
  return { chunks, size: bytes - chunks * TAG_BYTES, stride };
}

/**
 * Decrypts a part of an envelope without reading the rest: the header, the last chunk (which proves the size) and the
 * chunks that the range touches. Whether others were changed stays unknown. A range that reaches behind the end is cut off.
 * @throws `invalid` when the range begins behind the end; `corrupt` or `denied` when anything that was read is not
 * authentic.
 */
export async function decryptRange(request: RangeDecryption): Promise<void> {
  const { keys, file, sink, range, name, onProgress } = request;
  const header = await readHeader(sequential(file));
  const payload = payloadOf(file.size - header.payload, header.sealed.chunkBytes);
  const fileKeys = await openHeader(header, keys, name);
  const stage = decryption(fileKeys.payload, header.sealed.chunkBytes);
  const part = (first: number, after: number): ByteSource =>
    sequential(file, header.payload + first * payload.stride, header.payload + after * payload.stride);

  // Only the last chunk tells where the end is, so it is opened before a size is believed or anything is written.
  const last = payload.chunks - 1;
  await pump(part(last, last + 1), nowhere, startingAt(stage, last, true));
  requireInside(range, payload.size);

  const end = Math.min(payload.size, endOf(range));
  if (range.offset >= end) return;
  const first = Math.floor(range.offset / stage.outputBytes);
  const after = Math.ceil(end / stage.outputBytes);
  const window = new Window(sink, range, first * stage.outputBytes);
  await pump(part(first, after), window, startingAt(stage, first, after === payload.chunks), onProgress);
}

const nowhere: ByteSink = { write: () => Promise.resolve() };

/** The stage for a stream that begins with chunk `first` and may end before the last one. */
const startingAt = (stage: ChunkStage, first: number, endsPayload: boolean): ChunkStage => ({
  ...stage,
  transform: (chunk, index, final, out) => stage.transform(chunk, first + index, final && endsPayload, out),
});
