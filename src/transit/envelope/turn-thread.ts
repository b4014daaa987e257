import type { readSync, writeSync } from 'node:fs';
import type { ChunkCipher, ThreadCipher } from './chunk-cipher.ts';

/** State shared by the threads that process one file. */
export interface Shared {
  /**
   * Counters: the window to read next (-2 while one is being read), the window to write next (both -1 when finished or
   * failed), the number of bytes in `ahead`, and the number of threads that have started.
   */
  readonly turns: Int32Array<SharedArrayBuffer>;
  /** Bytes written, and the input bytes that they came from. */
  readonly totals: BigInt64Array<SharedArrayBuffer>;
  /** Bytes of the next window that are already read. */
  readonly ahead: Uint8Array<SharedArrayBuffer>;
}

/** Parameters of one thread. */
export interface TurnPart extends Shared {
  /** Chunk lengths in bytes, before and after processing, except for the last chunk. */
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Number of chunks in a window. */
  readonly chunks: number;
  /** File descriptors. */
  readonly from: number;
  readonly to: number;
  readonly cipher: ThreadCipher;
}

/** Reason for stopping before the end. */
export type Trouble =
  | { readonly kind: 'refused'; readonly index: number; readonly final: boolean; readonly chunk: Uint8Array }
  | {
      readonly kind: 'read' | 'write';
      readonly message: string;
      readonly told: Partial<NodeJS.ErrnoException>;
    };

/**
 * Processes windows of a file in turn with other threads: each thread reads and writes with blocking calls into memory
 * that stays in its processor's cache, one at a time, and they encrypt concurrently in between. The output is the same
 * as that of a single thread. Self-contained: other threads run its source text. Yields regularly, also while waiting,
 * so that other work of its thread gets a turn.
 * @returns the reason for stopping, if this thread failed
 * @see docs/decisions/0262
 */
export function* takeTurns(
  fs: { readonly readSync: typeof readSync; readonly writeSync: typeof writeSync },
  cipher: ChunkCipher,
  { turns, totals, ahead, inputBytes, outputBytes, chunks, from, to, cipher: { way } }: TurnPart,
): Generator<undefined, Trouble | undefined> {
  const READ = 0;
  const WRITE = 1;
  const AHEAD = 2;
  const STARTED = 3;
  const OVER = -1;
  const TAKEN = -2;
  const PATIENCE_MS = 50;
  const windowBytes = chunks * inputBytes;
  // Like `alignedBuffer`.
  const room = (bytes: number): Buffer => Buffer.allocUnsafeSlow(4080 + bytes).subarray(4080);
  const [input, output] = [room(windowBytes), room(chunks * outputBytes)];

  /**
   * Waits for the right to read.
   * @returns the window to read; -1 when finished or failed
   */
  function* takeWindow(): Generator<undefined, number> {
    for (;;) {
      const now = Atomics.load(turns, READ);
      if (now === OVER) return OVER;
      if (now !== TAKEN && Atomics.compareExchange(turns, READ, now, TAKEN) === now) return now;
      if (Atomics.wait(turns, READ, TAKEN, PATIENCE_MS) === 'timed-out') yield;
    }
  }
  /**
   * Waits for the right to write.
   * @returns false when finished or failed
   */
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
  /** Retries a call on a file that another process has made non-blocking. */
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
  // Errors lose everything except their message between threads.
  const troubleOf = (kind: 'read' | 'write', error: unknown): Trouble => {
    const { message, code, errno, syscall } = error as NodeJS.ErrnoException;
    return { kind, message, told: { code, errno, syscall } as Partial<NodeJS.ErrnoException> };
  };
  /**
   * Fills the window, and finds out whether more data follows.
   * @returns the number of bytes in it
   */
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

    // Data before a damaged chunk is intact, and may be all that is left.
    if (!(yield* isTurnOf(window))) {
      // An error at an earlier position is the one that a single thread would have met.
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
