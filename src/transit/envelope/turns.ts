import { createCipheriv, createDecipheriv } from 'node:crypto';
import { readSync, writeSync } from 'node:fs';
import { alignedBuffer } from '../../ground/aligned.ts';
import { wipe } from '../../ground/bytes.ts';
import { turn } from '../../ground/pause.ts';
import { chunkCipher } from './chunk-cipher.ts';
import type { ChunkStage } from './chunk-stage.ts';
import type { ByteSink, ByteSource, OnProgress, PlainFile } from './ports.ts';
import { type Part, type Shared, type Trouble, takeTurns } from './turn-thread.ts';

/** With less, starting threads takes longer than they save. */
const MIN_BYTES = 128 * 1024 * 1024;
/** This one and another. More would wait for each other: reading and writing are done by one at a time. */
const THREADS = 2;
/** Of a window: large enough that turns do not count, small enough for a processor's own cache. */
const WINDOW_BYTES = 512 * 1024;
const LOOK_MS = 100;

/** One file at a time: with several, each processor has its own already. */
let isBusy = false;

/** Whether both ends are files that threads can read and write by themselves, and it is worth it. */
function isWorthIt(source: ByteSource): boolean {
  if (isBusy || (source.expectedBytes ?? 0) < MIN_BYTES) return false;
  return process.getBuiltinModule('node:os').availableParallelism() >= THREADS;
}

/**
 * Takes a large file through a stage in several threads. Its other properties are those of `pump`.
 * @returns false when that can't be done, or would not be worth it: nothing has been read then.
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
    const part: Part = { ...shared, ...files, inputBytes, outputBytes, chunks, cipher };
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

/** What was read before, e.g. behind a header, comes first. */
async function readFirst(source: ByteSource, ahead: Uint8Array): Promise<number> {
  const bytes = alignedBuffer(ahead.length);
  const length = await source.read(bytes);
  ahead.set(bytes.subarray(0, length));
  wipe(bytes);
  return length;
}

/** What the threads have done, for whoever counts. */
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

/** By text, for a single executable has no file that a thread could be started with. */
const threadText = (): string => `
  const { parentPort, workerData } = require('node:worker_threads');
  const cipher = (${chunkCipher})(require('node:crypto'), workerData.cipher);
  const turns = (${takeTurns})(require('node:fs'), cipher, workerData);
  for (let turn = turns.next(); ; turn = turns.next()) if (turn.done) { parentPort.postMessage(turn.value); break; }
`;

/** Signals and timers have their turn, too. */
async function runHere(part: Part): Promise<Trouble | undefined> {
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

/** Where the system gives no thread, the work is done without it. */
function runThread(part: Part): Promise<Trouble | undefined> {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  return new Promise((resolve, reject) => {
    let thread: InstanceType<typeof Worker>;
    try {
      thread = new Worker(threadText(), { eval: true, workerData: part, env: {}, execArgv: [] });
    } catch {
      return resolve(undefined);
    }
    let ended: { readonly trouble: Trouble | undefined } | undefined;
    let failure: unknown = new Error('a thread ended before its work');
    thread.once('message', (trouble) => {
      ended = { trouble };
    });
    thread.once('error', (error) => {
      failure = error;
    });
    thread.once('exit', () => {
      if (ended !== undefined) return resolve(ended.trouble);
      // That is the other one.
      if (Atomics.load(part.turns, 3) === 1) return resolve(undefined);
      endAll(part);
      reject(failure);
    });
  });
}

/** Nobody may wait for a turn that is never passed on. */
function endAll({ turns }: Part): void {
  for (const which of [0, 1]) {
    Atomics.store(turns, which, -1);
    Atomics.notify(turns, which);
  }
}

/** What went wrong, as one thread would have said it. */
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
