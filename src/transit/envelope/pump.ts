import { createCipheriv, createDecipheriv } from 'node:crypto';
import { readSync, writeSync } from 'node:fs';
import { alignedBuffer, wholePages } from '../../ground/aligned.ts';
import { wipe } from '../../ground/bytes.ts';
import { attempt } from '../../ground/errors.ts';
import { turn } from '../../ground/pause.ts';
import { type ChunkStage, chunkCipher } from './chunk-cipher.ts';
import type { ByteSink, ByteSource, OnProgress, PlainFile } from './ports.ts';
import { type Shared, type Trouble, type TurnPart, takeTurns } from './turn-thread.ts';

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

/** Minimum file size, in bytes: for smaller files, starting threads takes longer than they save. */
const MIN_BYTES = 128 * 1024 * 1024;
/** Number of threads, including this one. More would wait for each other: only one reads or writes at a time. */
const THREADS = 2;
/** Size of a window, in bytes: large enough that turns do not matter, small enough for the cache of one processor. */
const WINDOW_BYTES = 512 * 1024;
const LOOK_MS = 100;

/** Whether a file is in progress. With several files at a time, each processor is busy already. */
let isBusy = false;

/** Whether both ends are files that threads can access on their own, and threads are worth starting. */
function isWorthIt(source: ByteSource): boolean {
  if (isBusy || (source.expectedBytes ?? 0) < MIN_BYTES) return false;
  return process.getBuiltinModule('node:os').availableParallelism() >= THREADS;
}

/**
 * Processes a large file in several threads; otherwise like `pump`.
 * @returns false if that is impossible or not worthwhile: nothing has been read then
 * @see docs/decisions/0262
 */
export async function pumpInTurns(
  source: ByteSource,
  sink: ByteSink,
  stage: ChunkStage,
  onProgress?: OnProgress,
): Promise<boolean> {
  const { elsewhere: cipher, inputBytes, outputBytes } = stage;
  const [from, to] = [source.file, sink.file];
  if (cipher === undefined || from === undefined || to === undefined || !isWorthIt(source)) return false;
  isBusy = true;
  const chunks = Math.max(1, Math.floor(WINDOW_BYTES / inputBytes));
  const shared = sharedMemory(chunks * inputBytes);
  const told = new Told(shared.totals, to, onProgress);
  const timer = setInterval(() => told.tell(), LOOK_MS);
  try {
    shared.turns[2] = await readFirst(source, shared.ahead);
    const files = { from: from.descriptor, to: to.descriptor };
    const part: TurnPart = { ...shared, ...files, inputBytes, outputBytes, chunks, cipher };
    const ends = await Promise.allSettled([runThread(part), runHere(part)]);
    told.tell();
    for (const end of ends) {
      if (end.status === 'rejected') throw end.reason;
      if (end.value !== undefined) throw reasonOf(end.value, stage, from, to);
    }
    return true;
  } finally {
    clearInterval(timer);
    wipe(shared.ahead);
    isBusy = false;
  }
}

function sharedMemory(aheadBytes: number): Shared {
  return {
    turns: new Int32Array(new SharedArrayBuffer(16)),
    totals: new BigInt64Array(new SharedArrayBuffer(16)),
    ahead: new Uint8Array(new SharedArrayBuffer(aheadBytes)),
  };
}

/** Reads bytes that were buffered earlier, e.g. after a header; they come first. */
async function readFirst(source: ByteSource, ahead: Uint8Array): Promise<number> {
  const bytes = alignedBuffer(ahead.length);
  const length = await source.read(bytes);
  ahead.set(bytes.subarray(0, length));
  wipe(bytes);
  return length;
}

/** Reports the progress of the threads. */
class Told {
  readonly #totals: BigInt64Array;
  readonly #to: PlainFile;
  readonly #onProgress: OnProgress | undefined;
  #written = 0;
  #taken = 0;

  constructor(totals: BigInt64Array, to: PlainFile, onProgress: OnProgress | undefined) {
    this.#totals = totals;
    this.#to = to;
    this.#onProgress = onProgress;
  }

  tell(): void {
    const [written, taken] = [0, 1].map((at) => Number(Atomics.load(this.#totals, at))) as [number, number];
    this.#to.wrote?.(written - this.#written);
    this.#onProgress?.(taken - this.#taken);
    [this.#written, this.#taken] = [written, taken];
  }
}

/** Source text of the thread, because a single executable has no file to start one from. */
const threadText = (): string => `
  const { parentPort, workerData } = require('node:worker_threads');
  const cipher = (${chunkCipher})(require('node:crypto'), workerData.cipher);
  const turns = (${takeTurns})(require('node:fs'), cipher, workerData);
  for (let turn = turns.next(); ; turn = turns.next()) if (turn.done) { parentPort.postMessage(turn.value); break; }
`;

/** Runs a part in this thread, yielding to signals and timers. */
async function runHere(part: TurnPart): Promise<Trouble | undefined> {
  const cipher = chunkCipher({ createCipheriv, createDecipheriv }, part.cipher);
  const turns = takeTurns({ readSync, writeSync }, cipher, part);
  try {
    for (;;) {
      const { done, value } = turns.next();
      if (done === true) return value;
      await turn();
    }
  } catch (error) {
    endAll(part);
    throw error;
  }
}

/** Runs a part in another thread. If the system cannot start one, this thread does the work alone. */
function runThread(part: TurnPart): Promise<Trouble | undefined> {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  return new Promise((resolve, reject) => {
    const options = { eval: true, workerData: part, env: {}, execArgv: [] };
    const thread = attempt(() => new Worker(threadText(), options));
    if (thread === undefined) return resolve(undefined);
    let ended: { readonly trouble: Trouble | undefined } | undefined;
    let failure: unknown = new Error('a worker thread exited unexpectedly');
    thread.once('message', (trouble) => {
      ended = { trouble };
    });
    thread.once('error', (error) => {
      failure = error;
    });
    thread.once('exit', () => {
      if (ended !== undefined) return resolve(ended.trouble);
      // Only this thread has started, so the other one never ran.
      if (Atomics.load(part.turns, 3) === 1) return resolve(undefined);
      endAll(part);
      reject(failure);
    });
  });
}

/** Releases all threads that wait for a turn. */
function endAll({ turns }: TurnPart): void {
  for (const which of [0, 1]) {
    Atomics.store(turns, which, -1);
    Atomics.notify(turns, which);
  }
}

/** Returns the error as a single thread would have reported it. */
function reasonOf(trouble: Trouble, stage: ChunkStage, from: PlainFile, to: PlainFile): unknown {
  if (trouble.kind === 'refused') {
    const { chunk, index, final } = trouble;
    try {
      stage.transform(chunk, index, final, Buffer.alloc(stage.outputBytes));
    } catch (error) {
      return error;
    }
    return new Error(`chunk ${index} was refused without a reason`);
  }
  const { kind, message, told } = trouble;
  return (kind === 'read' ? from : to).explain(Object.assign(new Error(message), told));
}
