import { alignedBuffer, wholePages } from '../../ground/aligned.ts';
import { wipe } from '../../ground/bytes.ts';
import type { ChunkStage } from './chunk-cipher.ts';
import type { ByteSink, ByteSource, OnProgress } from './ports.ts';
import { pumpInTurns } from './turns.ts';

/** Read size, in bytes: large enough that system calls do not matter, small enough for the processor's cache. */
const MAX_READ_BYTES = 1024 * 1024;
const MIN_READ_BYTES = 4096;

/**
 * Pumps a stream through a chunk stage in constant memory: reading, processing and writing overlap. An empty stream is
 * a single empty chunk; otherwise the last chunk is not empty. If a chunk is rejected, all earlier chunks have been
 * written.
 * @see docs/decisions/0082
 */
export async function pump(
  source: ByteSource,
  sink: ByteSink,
  stage: ChunkStage,
  onProgress?: OnProgress,
): Promise<void> {
  if (await pumpInTurns(source, sink, stage, onProgress)) return;
  const readBytes = Math.max(
    MIN_READ_BYTES,
    Math.min(MAX_READ_BYTES, source.expectedBytes ?? MAX_READ_BYTES),
  );
  const input = new ReadAhead(source, stage.inputBytes, readBytes);
  const output = new WriteBehind(sink, (Math.ceil(readBytes / stage.inputBytes) + 1) * stage.outputBytes);
  let index = 0;
  try {
    for (let window = await input.next(); window !== undefined; window = await input.next()) {
      const out = output.buffer();
      const arrived = window.length - input.kept;
      let taken = 0;
      let filled = 0;
      let isDamaged = true;
      try {
        // A chunk that may be the last one is held back, because its nonce says so.
        while (window.length - taken > stage.inputBytes) {
          const chunk = window.subarray(taken, taken + stage.inputBytes);
          filled += stage.transform(chunk, index++, false, out.subarray(filled));
          taken += stage.inputBytes;
        }
        input.keep(window.subarray(taken));
        isDamaged = false;
      } finally {
        // Data before a damaged chunk is intact, and may be all that is left.
        await output.write(filled, isDamaged);
      }
      onProgress?.(arrived);
    }
    await output.write(stage.transform(input.rest(), index, true, output.buffer()), true);
    await output.flush();
  } finally {
    // The caller may close source and sink now, so nothing may be in progress any more.
    await Promise.all([input.settle(), output.settle()]);
    input.wipe();
    output.wipe();
  }
}

/**
 * Reads into one buffer while the other is processed (unless a read might block); the rest of a piece is moved before
 * the next one.
 */
class ReadAhead {
  readonly #source: ByteSource;
  /** Space for the rest of the previous piece, at the start of both buffers, in bytes. */
  readonly #room: number;
  readonly #buffers: PumpPair;
  #pending: Promise<number> | undefined;
  /** Number of bytes at the start of the next piece that were kept from the previous one. */
  kept = 0;

  constructor(source: ByteSource, room: number, readBytes: number) {
    this.#source = source;
    this.#room = wholePages(room);
    this.#buffers = new PumpPair(this.#room + readBytes);
    this.#readAhead();
  }

  #read(): Promise<number> {
    return this.#source.read(this.#buffers.current.subarray(this.#room));
  }

  #readAhead(): void {
    if (this.#source.mayStall) return;
    this.#pending = this.#read();
    // A failure is reported when the piece is requested; until then it must not count as unhandled.
    this.#pending.catch(() => {});
  }

  /** Returns the kept bytes and those after them; undefined at the end. Valid until the call after the next. */
  async next(): Promise<Buffer | undefined> {
    const bytes = await (this.#pending ?? this.#read());
    this.#pending = undefined;
    if (bytes === 0) return undefined;
    const window = this.#buffers.current.subarray(this.#room - this.kept, this.#room + bytes);
    this.#buffers.swap();
    this.#readAhead();
    return window;
  }

  /**
   * Keeps the end of the last piece.
   * @param rest at most as long as the space for it
   */
  keep(rest: Uint8Array): void {
    this.kept = rest.length;
    this.#buffers.current.set(rest, this.#room - rest.length);
  }

  /** Returns the bytes that were kept last. */
  rest(): Buffer {
    return this.#buffers.current.subarray(this.#room - this.kept, this.#room);
  }

  /** Waits until no read is in progress, regardless of its result. */
  async settle(): Promise<void> {
    await Promise.allSettled([this.#pending]);
  }

  wipe(): void {
    this.#buffers.wipe();
  }
}

/**
 * Write unit, in bytes: the capacity of a pipe, and the unit of the file cache. An encrypted chunk is slightly longer:
 * written on its own, its last bytes would wait each time until the reader has consumed the others.
 */
const WRITE_UNIT = 64 * 1024;

/** Writes one buffer while the other is filled, in whole units until the end. */
class WriteBehind {
  readonly #sink: ByteSink;
  readonly #buffers: PumpPair;
  /** Number of bytes at the start of the current buffer that wait for the rest of their unit. */
  #held = 0;
  #pending: Promise<void> = Promise.resolve();

  constructor(sink: ByteSink, bytes: number) {
    this.#sink = sink;
    this.#buffers = new PumpPair(bytes + WRITE_UNIT);
  }

  /** Returns the space for the next bytes. */
  buffer(): Buffer {
    return this.#buffers.current.subarray(this.#held);
  }

  /**
   * Starts writing, once all earlier data is written.
   * @param filled number of bytes written to the start of {@link buffer}
   * @param everything whether this is the end: hold nothing back
   */
  async write(filled: number, everything: boolean): Promise<void> {
    const buffer = this.#buffers.current;
    const end = this.#held + filled;
    const ready = everything ? end : end - (end % WRITE_UNIT);
    this.#held = end;
    if (ready === 0) return;
    await this.#pending;
    this.#pending = this.#sink.write(buffer.subarray(0, ready));
    this.#pending.catch(() => {});
    this.#buffers.swap();
    this.#held = end - ready;
    this.#buffers.current.set(buffer.subarray(ready, end));
  }

  async flush(): Promise<void> {
    await this.#pending;
  }

  /** Waits until no write is in progress, regardless of its result. */
  async settle(): Promise<void> {
    await Promise.allSettled([this.#pending]);
  }

  wipe(): void {
    this.#buffers.wipe();
  }
}

/** Two alternating buffers, allocated on first use. */
class PumpPair {
  readonly #bytes: number;
  readonly #made: Buffer[] = [];
  #turn = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  get current(): Buffer {
    const which = this.#turn % 2;
    const buffer = this.#made[which] ?? alignedBuffer(this.#bytes);
    this.#made[which] = buffer;
    return buffer;
  }

  swap(): void {
    this.#turn++;
  }

  wipe(): void {
    wipe(...this.#made);
  }
}
