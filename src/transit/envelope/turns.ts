import { createCipheriv, createDecipheriv } from 'node:crypto';
import { readSync, writeSync } from 'node:fs';
import { alignedBuffer } from '../../ground/aligned.ts';
import { wipe } from '../../ground/bytes.ts';
import { attempt } from '../../ground/errors.ts';
import { turn } from '../../ground/pause.ts';
import { type ChunkStage, chunkCipher } from './chunk-cipher.ts';
import type { ByteSink, ByteSource, OnProgress, PlainFile } from './ports.ts';
import { type Shared, type Trouble, type TurnPart, takeTurns } from './turn-thread.ts';

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
