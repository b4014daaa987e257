import { TAG_BYTES } from '../../ground/bytes.ts';
import { invalid } from '../../ground/errors.ts';
import { type ChunkStage, decryption } from './chunk-cipher.ts';
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
  /**
   * Receives the plaintext, authenticated chunk by chunk. If a chunk is damaged, it has received everything before it.
   */
  readonly sink: ByteSink;
  /** Named key that the caller expects; undefined for any. */
  readonly name?: string | undefined;
  /** Requested part of the plaintext. The whole file is still read and authenticated; `decryptRange` reads less. */
  readonly range?: ByteRange | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/**
 * Decrypts a whole envelope.
 * @returns its header, authenticated
 * @throws `inauthentic` or `denied` if any byte was changed, removed, moved or added; `invalid` if the range begins
 * after the end; and any error of the named key
 */
export async function decryptEnvelope(request: Decryption): Promise<EnvelopeDescription> {
  const { keys, source, name, onProgress } = request;
  const header = await readHeader(source);
  const fileKeys = await openHeader(header, keys, name);
  onProgress?.(header.payload);
  await decryptPayload({ ...request, stage: decryption(fileKeys.payload, header.sealed.chunkBytes) });
  return describe(header);
}

/**
 * Decrypts all chunks.
 * @throws as {@link decryptEnvelope}, for the chunks and the range
 */
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

/** Layout of the chunks, computed from sizes alone. */
type Payload = ReturnType<typeof payloadOf>;

/**
 * Computes the layout of a payload.
 * @param bytes length from the first chunk to the end
 * @throws `inauthentic` for an impossible size
 */
export function payloadOf(bytes: number, chunkBytes: number) {
  /** Distance between the starts of two chunks, in bytes. */
  const stride = chunkBytes + TAG_BYTES;
  const chunks = Math.max(1, Math.ceil(bytes / stride));
  const lastBytes = bytes - (chunks - 1) * stride;
  if (lastBytes < TAG_BYTES || (lastBytes === TAG_BYTES && chunks > 1)) throw truncated();
  /** Plaintext size, in bytes. */
  const size = bytes - chunks * TAG_BYTES;
  return { chunks, size, stride };
}

/**
 * Decrypts a part of an envelope without reading the rest: the header, the last chunk (which proves the size) and the
 * chunks in the range. Changes to other chunks stay undetected. A range that exceeds the end is cut off.
 * @returns the header and the plaintext size of the whole file, both authenticated
 * @throws `invalid` if the range begins after the end; `inauthentic` or `denied` if anything that was read is not
 * authentic
 * @see docs/decisions/0083
 */
export async function decryptRange(
  request: RangeDecryption,
): Promise<EnvelopeDescription & { readonly size: number }> {
  const { keys, file, name } = request;
  const header = await readHeader(sequential(file));
  const { chunkBytes } = header.sealed;
  const start = header.payload;
  // Detect an impossible size before asking for a key.
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
 * Decrypts a part of the chunks between a position and the end of a file.
 * @param start position of the first chunk
 * @returns the plaintext size of the whole file, authenticated
 * @throws as {@link decryptRange}, for the chunks and the range
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
  // Only the last chunk proves where the end is, so open it before trusting a size or writing anything.
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

/**
 * Returns a function that decrypts the chunks from `first` up to, but not including, `after`.
 * @param start position of the first chunk
 */
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

/** Part of a plaintext. */
export interface ByteRange {
  /** Number of bytes to skip. */
  readonly offset: number;
  /** Maximum number of bytes; undefined for all up to the end. */
  readonly length?: number | undefined;
}

const endOf = ({ offset, length }: ByteRange): number =>
  length === undefined ? Number.POSITIVE_INFINITY : offset + length;

/** Passes on the part of a stream that is in a range. */
class Window implements ByteSink {
  readonly #sink: ByteSink;
  readonly #range: ByteRange;
  /** Position of the next byte in the whole plaintext. */
  #position: number;

  /** @param start position in the whole plaintext at which the stream begins */
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
   * Called at the end of the stream.
   * @throws `invalid` if the range begins after it
   */
  requireReached(): void {
    requireInside(this.#range, this.#position);
  }
}

/**
 * Checks that a range begins inside the plaintext or at its end; its end is not checked, but cut off.
 * @throws `invalid` otherwise
 */
function requireInside({ offset }: ByteRange, size: number): void {
  if (offset <= size) return;
  throw invalid(`offset ${offset} is past the end of the decrypted data, which has ${size} bytes`, {
    field: 'offset',
  });
}
