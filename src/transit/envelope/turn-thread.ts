import type { readSync, writeSync } from 'node:fs';
import type { ChunkCipher, ThreadCipher } from './chunk-stage.ts';

/** What the threads share that work on one file. */
export interface Shared {
  /**
   * The window that is read next (-2 while one is being read), the one that is written next (-1, both, when all is over), how many
   * bytes `ahead` holds, and how many threads have begun.
   */
  readonly turns: Int32Array<SharedArrayBuffer>;
  /** Bytes that were written, and what they were before, as input. */
  readonly totals: BigInt64Array<SharedArrayBuffer>;
  /** What was read of the next window. */
  readonly ahead: Uint8Array<SharedArrayBuffer>;
}

/** One thread's part. */
export interface Part extends Shared {
  /** Bytes of each chunk but the last, before and after. */
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Of a window. */
  readonly chunks: number;
  /** File descriptors. */
  readonly from: number;
  readonly to: number;
  readonly cipher: ThreadCipher;
}

/** Why all is over before the end. */
export type Trouble =
  | { readonly kind: 'refused'; readonly index: number; readonly final: boolean; readonly chunk: Uint8Array }
  | {
      readonly kind: 'read' | 'write';
      readonly message: string;
      readonly told: Partial<NodeJS.ErrnoException>;
    };

/**
 * Takes windows of a file through the cipher, in turn with other threads: each reads and writes with blocking calls into memory that
 * stays in its processor's cache, one at a time, and in between they encrypt at the same time. What was written when this ends
 * is what one thread would have written. Nothing outside of it is referred to: the other threads run its text.
 * It yields now and then, also while it waits, so that other work of its thread has its turn.
 * @returns why all is over, if it went wrong here.
 * @see docs/decisions/0262
 */
export function* takeTurns(
  fs: { readonly readSync: typeof readSync; readonly writeSync: typeof writeSync },
  cipher: ChunkCipher,
  { turns, totals, ahead, inputBytes, outputBytes, chunks, from, to, cipher: { way } }: Part,
): Generator<undefined, Trouble | undefined> {
  const READ = 0;
  const WRITE = 1;
  const AHEAD = 2;
  const STARTED = 3;
  const OVER = -1;
  const TAKEN = -2;
  const PATIENCE_MS = 50;
  const windowBytes = chunks * inputBytes;
  // As `alignedBuffer` has it.
  const room = (bytes: number): Buffer => Buffer.allocUnsafeSlow(4080 + bytes).subarray(4080);
  const [input, output] = [room(windowBytes), room(chunks * outputBytes)];

  /** @returns the window to read, when nobody else reads; -1 when all is over. */
  function* takeWindow(): Generator<undefined, number> {
    for (;;) {
      const now = Atomics.load(turns, READ);
      if (now === OVER) return OVER;
      if (now !== TAKEN && Atomics.compareExchange(turns, READ, now, TAKEN) === now) return now;
      if (Atomics.wait(turns, READ, TAKEN, PATIENCE_MS) === 'timed-out') yield;
    }
  }
  /** @returns false when all is over. */
  function* isTurnOf(window: number): Generator<undefined, boolean> {
    for (;;) {
      const now = Atomics.load(turns, WRITE);
      if (now === window) return true;
      if (now === OVER) return false;
      if (Atomics.wait(turns, WRITE, now, PATIENCE_MS) === 'timed-out') yield;
    }
  }
  const pass = (which: number, window: number): void => {
    Atomics.store(turns, which, window);
    Atomics.notify(turns, which);
  };
  const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code);
  /** What somebody has made non-blocking is tried again. */
  const patiently = (call: () => number): number => {
    for (;;) {
      try {
        return call();
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN') throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      }
    }
  };
  // Between threads an error keeps its message only.
  const troubleOf = (kind: 'read' | 'write', error: unknown): Trouble => {
    const { message, code, errno, syscall } = error as NodeJS.ErrnoException;
    return { kind, message, told: { code, errno, syscall } as Partial<NodeJS.ErrnoException> };
  };
  /** Fills the window, and finds out whether more is to come. @returns how many bytes there are. */
  const read = (): number => {
    let length = Atomics.load(turns, AHEAD);
    input.set(ahead.subarray(0, length));
    while (length < windowBytes) {
      const bytes = patiently(() => fs.readSync(from, input, length, windowBytes - length, null));
      if (bytes === 0) break;
      length += bytes;
    }
    const more = length < windowBytes ? 0 : patiently(() => fs.readSync(from, ahead, 0, 1, null));
    Atomics.store(turns, AHEAD, more);
    return length;
  };
  const write = (length: number): void => {
    let written = 0;
    while (written < length) {
      written += patiently(() => fs.writeSync(to, output, written, length - written, null));
    }
  };

  let trouble: Trouble | undefined;
  Atomics.add(turns, STARTED, 1);
  for (let window = yield* takeWindow(); window !== OVER; window = yield* takeWindow()) {
    let length = 0;
    try {
      length = read();
    } catch (error) {
      trouble = troubleOf('read', error);
    }
    const isLast = trouble !== undefined || Atomics.load(turns, AHEAD) === 0;
    pass(READ, isLast ? OVER : window + 1);

    let [taken, filled] = [0, 0];
    for (let chunk = 0; trouble === undefined && (taken < length || chunk === 0); chunk++) {
      const bytes = input.subarray(taken, Math.min(length, taken + inputBytes));
      const index = window * chunks + chunk;
      const final = isLast && taken + bytes.length === length;
      const made = cipher[way](bytes, index, final, output.subarray(filled));
      if (made === undefined) {
        trouble = { kind: 'refused', index, final, chunk: Uint8Array.from(bytes) };
        break;
      }
      taken += bytes.length;
      filled += made;
    }

    // What lies before a damaged chunk is good, and may be all that is left of the data.
    if (!(yield* isTurnOf(window))) {
      // What went wrong before this is what one thread would have met.
      trouble = undefined;
      break;
    }
    try {
      write(filled);
      Atomics.add(totals, 0, BigInt(filled));
      Atomics.add(totals, 1, BigInt(taken));
    } catch (error) {
      trouble = troubleOf('write', error);
    }
    const isOver = isLast || trouble !== undefined;
    if (isOver) pass(READ, OVER);
    pass(WRITE, isOver ? OVER : window + 1);
    if (isOver) break;
    yield;
  }
  input.fill(0);
  output.fill(0);
  return trouble;
}
