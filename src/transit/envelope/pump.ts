import { alignedBuffer, wholePages } from '../../ground/aligned.ts';
import { wipe } from '../../ground/bytes.ts';
import type { ChunkStage } from './chunk-stage.ts';
import type { ByteSink, ByteSource, OnProgress } from './ports.ts';
import { pumpInTurns } from './turns.ts';

/** Large enough that system calls do not count, small enough for the processor's cache. */
const MAX_READ_BYTES = 1024 * 1024;
const MIN_READ_BYTES = 4096;

/**
 * Takes a stream of unknown length through a stage, chunk by chunk, in constant memory: while one piece is worked on, the
 * next is read and the one before is written. An empty stream is one empty chunk; any other ends in a chunk that is not
 * empty. When a chunk is refused, everything before it has been written.
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
        // Whatever may turn out to be the last chunk is kept back: that it is the last goes into its nonce.
        while (window.length - taken > stage.inputBytes) {
          const chunk = window.subarray(taken, taken + stage.inputBytes);
          filled += stage.transform(chunk, index++, false, out.subarray(filled));
          taken += stage.inputBytes;
        }
        input.keep(window.subarray(taken));
        isDamaged = false;
      } finally {
        // What lies before a damaged chunk is good, and may be all that is left of the data.
        await output.write(filled, isDamaged);
      }
      onProgress?.(arrived);
    }
    await output.write(stage.transform(input.rest(), index, true, output.buffer()), true);
    await output.flush();
  } finally {
    // Whoever owns source and sink may close them now, so nothing must be under way any more.
    await Promise.all([input.settle(), output.settle()]);
    input.wipe();
    output.wipe();
  }
}

/** Reads into one buffer while the other is worked on (unless that might stall); the rest of a piece moves before the next. */
class ReadAhead {
  readonly #source: ByteSource;
  /** Room for the rest of the piece before, at the start of both buffers. */
  readonly #room: number;
  readonly #buffers: Pair;
  #pending: Promise<number> | undefined;
  /** How many bytes the next piece begins with that were part of the one before. */
  kept = 0;

  constructor(source: ByteSource, room: number, readBytes: number) {
    this.#source = source;
    this.#room = wholePages(room);
    this.#buffers = new Pair(this.#room + readBytes);
    this.#readAhead();
  }

  #read(): Promise<number> {
    return this.#source.read(this.#buffers.current.subarray(this.#room));
  }

  #readAhead(): void {
    if (this.#source.mayStall) return;
    this.#pending = this.#read();
    // A failure is met when the piece is asked for; until then nobody listens.
    this.#pending.catch(() => {});
  }

  /** The kept bytes and those after them; undefined at the end. Valid until the call after the next. */
  async next(): Promise<Buffer | undefined> {
    const bytes = await (this.#pending ?? this.#read());
    this.#pending = undefined;
    if (bytes === 0) return undefined;
    const window = this.#buffers.current.subarray(this.#room - this.kept, this.#room + bytes);
    this.#buffers.swap();
    this.#readAhead();
    return window;
  }

  /** @param rest The end of the last piece, at most as long as the room. */
  keep(rest: Uint8Array): void {
    this.kept = rest.length;
    this.#buffers.current.set(rest, this.#room - rest.length);
  }

  /** What was kept last. */
  rest(): Buffer {
    return this.#buffers.current.subarray(this.#room - this.kept, this.#room);
  }

  /** Waits until nothing is being read, however that ends. */
  async settle(): Promise<void> {
    await Promise.allSettled([this.#pending]);
  }

  wipe(): void {
    this.#buffers.wipe();
  }
}

/**
 * A pipe holds so much, and files are cached in parts of it. An encrypted chunk is a little longer: written as it is, its last
 * bytes would wait each time until somebody has read the others.
 */
const WRITE_UNIT = 64 * 1024;

/** Writes one buffer while the other is filled, in whole units as long as more is to come. */
class WriteBehind {
  readonly #sink: ByteSink;
  readonly #buffers: Pair;
  /** How many bytes at the start of the current buffer wait for the rest of their unit. */
  #held = 0;
  #pending: Promise<void> = Promise.resolve();

  constructor(sink: ByteSink, bytes: number) {
    this.#sink = sink;
    this.#buffers = new Pair(bytes + WRITE_UNIT);
  }

  /** Where the next bytes go. */
  buffer(): Buffer {
    return this.#buffers.current.subarray(this.#held);
  }

  /**
   * Begins to write, once everything before is written.
   * @param filled how many bytes were put at the start of {@link buffer}.
   * @param everything nothing more may come: hold nothing back.
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

  /** Waits until nothing is being written, however that ends. */
  async settle(): Promise<void> {
    await Promise.allSettled([this.#pending]);
  }

  wipe(): void {
    this.#buffers.wipe();
  }
}

/** Two buffers that take turns, made when they are first needed. */
class Pair {
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
