import { invalid } from '../../ground/errors.ts';
import { decryption, TAG_BYTES } from './chunk-cipher.ts';
import type { ChunkStage } from './chunk-stage.ts';
import { describe, type EnvelopeDescription, openHeader, readHeader } from './envelope.ts';
import {
  type ByteSink,
  type ByteSource,
  type DataKeys,
  type OnProgress,
  type RandomAccessSource,
  sequential,
} from './ports.ts';
import { pump } from './pump.ts';
import { truncated } from './refusals.ts';

interface Decryption {
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
 * @throws `inauthentic` or `denied` when any byte of it was changed, left out, moved or added, `invalid` when the range begins
 * behind the end, and whatever the named key answers.
 */
export async function decryptEnvelope(request: Decryption): Promise<EnvelopeDescription> {
  const { keys, source, name, onProgress } = request;
  const header = await readHeader(source);
  const fileKeys = await openHeader(header, keys, name);
  onProgress?.(header.payload);
  await decryptPayload({ ...request, stage: decryption(fileKeys.payload, header.sealed.chunkBytes) });
  return describe(header);
}

/** Decrypts chunks from the first one to the end. @throws as {@link decryptEnvelope}, of the chunks and the range. */
export async function decryptPayload({
  source,
  sink,
  stage,
  range,
  onProgress,
}: Pick<Decryption, 'source' | 'sink' | 'range' | 'onProgress'> & {
  readonly stage: ChunkStage;
}): Promise<void> {
  if (range === undefined) return pump(source, sink, stage, onProgress);
  const window = new Window(sink, range, 0);
  await pump(source, window, stage, onProgress);
  window.requireReached();
}

interface RangeDecryption extends Omit<Decryption, 'source' | 'range'> {
  readonly file: RandomAccessSource;
  readonly range: ByteRange;
}

/** Where chunks lie and how many there are, from sizes alone. */
type Payload = ReturnType<typeof payloadOf>;

/**
 * What the size of a payload tells.
 * @param bytes From the first chunk to the end.
 * @throws `inauthentic` for a size that no payload has.
 */
export function payloadOf(bytes: number, chunkBytes: number) {
  /** From the start of one chunk to the start of the next. */
  const stride = chunkBytes + TAG_BYTES;
  const chunks = Math.max(1, Math.ceil(bytes / stride));
  const lastBytes = bytes - (chunks - 1) * stride;
  if (lastBytes < TAG_BYTES || (lastBytes === TAG_BYTES && chunks > 1)) throw truncated();
  /** Bytes of plaintext. */
  const size = bytes - chunks * TAG_BYTES;
  return { chunks, size, stride };
}

/**
 * Decrypts a part of an envelope without reading the rest: the header, the last chunk (which proves the size) and the
 * chunks that the range touches. Whether others were changed stays unknown. A range that reaches behind the end is cut off.
 * @returns the header and the bytes of plaintext in the whole file, both authentic now.
 * @throws `invalid` when the range begins behind the end; `inauthentic` or `denied` when anything that was read is not
 * authentic.
 * @see docs/decisions/0083
 */
export async function decryptRange(
  request: RangeDecryption,
): Promise<EnvelopeDescription & { readonly size: number }> {
  const { keys, file, name } = request;
  const header = await readHeader(sequential(file));
  const { chunkBytes } = header.sealed;
  const start = header.payload;
  // A size that can't be right is told before a key is asked for.
  payloadOf(file.size - start, chunkBytes);
  const fileKeys = await openHeader(header, keys, name);
  const size = await decryptPayloadRange({
    ...request,
    start,
    stage: decryption(fileKeys.payload, chunkBytes),
  });
  return { ...describe(header), size };
}

/**
 * Decrypts a part of the chunks that lie between a position and the end of a file.
 * @param start Where the first chunk begins.
 * @returns the bytes of plaintext in the whole file, authentic now.
 * @throws as {@link decryptRange}, of the chunks and the range.
 */
export async function decryptPayloadRange({
  file,
  start,
  sink,
  stage,
  range,
  onProgress,
}: Pick<RangeDecryption, 'file' | 'sink' | 'range' | 'onProgress'> & {
  readonly start: number;
  readonly stage: ChunkStage;
}): Promise<number> {
  const chunkBytes = stage.outputBytes;
  const payload = payloadOf(file.size - start, chunkBytes);
  const decrypt = chunkDecryptor(file, start, payload, stage);
  // Only the last chunk tells where the end is, so it is opened before a size is believed or anything is written.
  await decrypt(payload.chunks - 1, payload.chunks, nowhere);
  requireInside(range, payload.size);
  const end = Math.min(payload.size, endOf(range));
  if (range.offset < end) {
    const first = Math.floor(range.offset / chunkBytes);
    const window = new Window(sink, range, first * chunkBytes);
    await decrypt(first, Math.ceil(end / chunkBytes), window, onProgress);
  }
  return payload.size;
}

const nowhere: ByteSink = { write: () => Promise.resolve() };

/** What decrypts the chunks of a file from `first` up to the one before `after`. @param start Where the first chunk begins. */
function chunkDecryptor(
  file: RandomAccessSource,
  start: number,
  { stride, chunks }: Payload,
  stage: ChunkStage,
) {
  const positionOf = (index: number): number => start + index * stride;
  return (first: number, after: number, sink: ByteSink, onProgress?: OnProgress): Promise<void> => {
    const source = sequential(file, positionOf(first), positionOf(after));
    const { inputBytes, outputBytes } = stage;
    const placed: ChunkStage = {
      inputBytes,
      outputBytes,
      transform: (chunk, index, final, out) =>
        stage.transform(chunk, first + index, final && after === chunks, out),
    };
    return pump(source, sink, placed, onProgress);
  };
}

/** A part of a plaintext. */
export interface ByteRange {
  /** Bytes before the first one wanted. */
  readonly offset: number;
  /** Bytes wanted at most; without it, all to the end. */
  readonly length?: number;
}

const endOf = ({ offset, length }: ByteRange): number =>
  length === undefined ? Number.POSITIVE_INFINITY : offset + length;

/** Hands on the part of a stream that lies in a range. */
class Window implements ByteSink {
  readonly #sink: ByteSink;
  readonly #range: ByteRange;
  /** Where the next byte to come lies in the whole plaintext. */
  #position: number;

  /** @param start Where the stream begins in the whole plaintext. */
  constructor(sink: ByteSink, range: ByteRange, start: number) {
    this.#sink = sink;
    this.#range = range;
    this.#position = start;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const from = Math.max(0, this.#range.offset - this.#position);
    const to = Math.min(bytes.length, endOf(this.#range) - this.#position);
    this.#position += bytes.length;
    if (from < to) await this.#sink.write(bytes.subarray(from, to));
  }

  /**
   * To be called at the end of the stream.
   * @throws `invalid` when the range begins behind it.
   */
  requireReached(): void {
    requireInside(this.#range, this.#position);
  }
}

/** @throws `invalid` when a range begins behind the end. A range that ends there is cut off. */
function requireInside({ offset }: ByteRange, size: number): void {
  if (offset <= size) return;
  throw invalid(`offset ${offset} is behind the end: the plaintext has ${size} bytes`, { field: 'offset' });
}
