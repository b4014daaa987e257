import { wipe } from '../../bytes.ts';
import type { ByteSink, ByteSource, OnProgress } from './ports.ts';

/** What is done to each chunk of a stream. */
export interface ChunkStage {
  /** Bytes of every chunk but the last, which has fewer or as many. */
  readonly inputBytes: number;
  /** Most bytes that one chunk becomes. */
  readonly outputBytes: number;
  /**
   * @param index Counts from 0.
   * @param out Has room for `outputBytes`.
   * @returns how many bytes were put at the start of `out`.
   */
  transform(chunk: Uint8Array, index: number, final: boolean, out: Uint8Array): number;
}

/** Large enough that system calls do not count, small enough for the processor's cache. */
const READ_BYTES = 1024 * 1024;

/**
 * Takes a stream of unknown length through a stage, chunk by chunk, in constant memory: while one piece is worked on, the
 * next is read and the one before is written. An empty stream is one empty chunk; any other ends in a chunk that is not
 * empty. What was written before an error stays written.
 */
export async function pump(
  source: ByteSource,
  sink: ByteSink,
  stage: ChunkStage,
  onProgress?: OnProgress,
): Promise<void> {
  const input = new ReadAhead(source, stage.inputBytes);
  const output = new WriteBehind(sink, (Math.ceil(READ_BYTES / stage.inputBytes) + 1) * stage.outputBytes);
  let index = 0;
  try {
    for (let window = await input.next(); window !== undefined; window = await input.next()) {
      const out = output.buffer();
      let taken = 0;
      let filled = 0;
      // Whatever may turn out to be the last chunk is kept back: that it is the last goes into its nonce.
      while (window.length - taken > stage.inputBytes) {
        const chunk = window.subarray(taken, taken + stage.inputBytes);
        filled += stage.transform(chunk, index++, false, out.subarray(filled));
        taken += stage.inputBytes;
      }
      const kept = input.kept;
      input.keep(window.subarray(taken));
      await output.write(out.subarray(0, filled));
      onProgress?.(window.length - kept);
    }
    const out = output.buffer();
    await output.write(out.subarray(0, stage.transform(input.rest(), index, true, out)));
    await output.flush();
  } finally {
    await output.settle();
    input.wipe();
    output.wipe();
  }
}

/** Reads into one buffer while the other is worked on, if the source is a prompt one; the rest of a piece moves in front of the next. */
class ReadAhead {
  readonly #source: ByteSource;
  /** Room for the rest of the piece before, at the start of both buffers. */
  readonly #room: number;
  readonly #buffers: readonly [Buffer, Buffer];
  #turn = 0;
  #pending: Promise<number> | undefined;
  /** How many bytes the next piece begins with that were part of the one before. */
  kept = 0;

  constructor(source: ByteSource, room: number) {
    this.#source = source;
    this.#room = room;
    this.#buffers = [Buffer.allocUnsafeSlow(room + READ_BYTES), Buffer.allocUnsafeSlow(room + READ_BYTES)];
    this.#readAhead();
  }

  get #buffer(): Buffer {
    return this.#buffers[this.#turn % 2 === 0 ? 0 : 1];
  }

  #read(): Promise<number> {
    return this.#source.read(this.#buffer.subarray(this.#room));
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
    const window = this.#buffer.subarray(this.#room - this.kept, this.#room + bytes);
    this.#turn++;
    this.#readAhead();
    return window;
  }

  /** @param rest The end of the last piece, at most as long as the room. */
  keep(rest: Uint8Array): void {
    this.kept = rest.length;
    this.#buffer.set(rest, this.#room - rest.length);
  }

  /** What was kept last. */
  rest(): Buffer {
    return this.#buffer.subarray(this.#room - this.kept, this.#room);
  }

  wipe(): void {
    wipe(...this.#buffers);
  }
}

/** Writes one buffer while the other is filled. */
class WriteBehind {
  readonly #sink: ByteSink;
  readonly #buffers: readonly [Buffer, Buffer];
  #turn = 0;
  #pending: Promise<void> = Promise.resolve();

  constructor(sink: ByteSink, bytes: number) {
    this.#sink = sink;
    this.#buffers = [Buffer.allocUnsafeSlow(bytes), Buffer.allocUnsafeSlow(bytes)];
  }

  /** The buffer that is not being written. */
  buffer(): Buffer {
    return this.#buffers[this.#turn % 2 === 0 ? 0 : 1];
  }

  /** Begins to write the start of {@link buffer} once everything before is written. */
  async write(filled: Uint8Array): Promise<void> {
    if (filled.length === 0) return;
    await this.#pending;
    this.#pending = this.#sink.write(filled);
    this.#pending.catch(() => {});
    this.#turn++;
  }

  async flush(): Promise<void> {
    await this.#pending;
  }

  /** Waits until nothing is being written, however that ends. */
  async settle(): Promise<void> {
    await Promise.allSettled([this.#pending]);
  }

  wipe(): void {
    wipe(...this.#buffers);
  }
}
