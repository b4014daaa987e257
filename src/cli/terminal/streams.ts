import { fstatSync, read, readFileSync, readSync, write, writeSync } from 'node:fs';
import { alignedBuffer } from '../../ground/aligned.ts';
import { wipe } from '../../ground/bytes.ts';
import { attempt, CofferError } from '../../ground/errors.ts';
import { answered, pause } from '../../ground/pause.ts';
import type { PlainFile } from '../../transit/envelope/ports.ts';
import { isTerminal } from './is-terminal.ts';

/** Input stream of a command. */
export interface Input {
  readonly isTerminal: boolean;
  /** Whether it is a pipe or a file, which the user may have meant as input; /dev/null is neither. */
  readonly isPiped: boolean;
  /**
   * Reads everything up to the end.
   * @throws `too-large` beyond `maxBytes`; of a regular file, nothing is read then
   */
  readAll(maxBytes: number): Buffer;
  /**
   * Reads the next bytes, for input of any size; signals are handled while it waits.
   * @returns number of bytes at the start of `into`; 0 at the end
   */
  read(into: Uint8Array): Promise<number>;
  /** Same as `read`, but blocks: several times cheaper on a pipe. */
  readNow(into: Uint8Array): number;
  /** Present for callers with their own system calls on a regular file. */
  readonly file?: PlainFile | undefined;
  /** Size of a regular file, in bytes; undefined for a pipe, a terminal or a device. */
  readonly bytes: number | undefined;
}

/** Output stream of a command. A write returns once the system has taken all data, so nothing is buffered in memory. */
export interface Output {
  readonly isTerminal: boolean;
  /** Width of the terminal; 80 without one. */
  readonly columns: number;
  /**
   * Writes data.
   * @throws ClosedPipe if the reader is gone
   */
  write(data: string | Uint8Array): void;
  /**
   * Same as `write`, but asynchronous; `data` must not change meanwhile. On a pipe it blocks, which is several times
   * cheaper, while the reader works in parallel anyway.
   */
  writeLater(data: Uint8Array): Promise<void>;
  /** For callers with their own system calls; undefined if these might not block, as on a pipe. */
  readonly file?: PlainFile | undefined;
}

export interface Streams {
  readonly in: Input;
  readonly out: Output;
  readonly err: Output;
}

/**
 * Error if the reader of the output is gone, as in `coffer … | head`: it has read what it needs, so the command ends
 * silently with 0. If the exit code is an answer (`verify`, `doctor`), it remains that answer.
 */
export class ClosedPipe extends Error {}

/** Error if the user pressed Ctrl-C at a prompt. */
export class Interrupted extends Error {}

/**
 * Prints something that is followed by more work or messages.
 * @returns false if the reader is gone
 */
export function isRead(print: () => void): boolean {
  try {
    print();
    return true;
  } catch (error) {
    if (error instanceof ClosedPipe) return false;
    throw error;
  }
}

/** Chunk size, in bytes: a pipe returns no more at once; from a file more can be read in one call. */
const PIPE_CHUNK_BYTES = 1 << 16;
const FILE_CHUNK_BYTES = 1 << 20;
const RETRY_MS = 2;
export const DEFAULT_COLUMNS = 80;

/**
 * Returns the streams of the process, by file descriptor: `process.stdout`, `process.stderr` and `process.stdin` take
 * three to five milliseconds at the start. Writes are synchronous: back-pressure needs no code, and an exit loses
 * nothing. A pipe that another program made non-blocking returns EAGAIN, and is retried after two milliseconds.
 */
export function standardStreams(): Streams {
  return { in: inputFrom(0), out: outputTo(1), err: messagesTo(2) };
}

/** Returns an open file descriptor as input. */
export function inputFrom(descriptor: number): Input {
  return {
    get isTerminal() {
      return isTerminal(descriptor);
    },
    get isPiped() {
      const stat = fstatSync(descriptor);
      return stat.isFIFO() || stat.isSocket() || stat.isFile();
    },
    readAll(maxBytes) {
      if (remainingBytes(descriptor, maxBytes) > maxBytes) throw tooLarge(maxBytes);
      const pieces: Buffer[] = [];
      let total = 0;
      for (;;) {
        const buffer = alignedBuffer(chunkBytes(descriptor));
        const piece = buffer.subarray(0, readNow(descriptor, buffer));
        if (piece.length === 0) break;
        total += piece.length;
        if (total > maxBytes) throw tooLarge(maxBytes);
        pieces.push(piece);
      }
      const [only, ...others] = pieces;
      if (only !== undefined && others.length === 0) return only;
      // The data may be a secret, and a caller who overwrites the whole does not have the pieces.
      const whole = Buffer.concat(pieces, total);
      wipe(...pieces);
      return whole;
    },
    read: (into) => readLater(descriptor, into),
    readNow: (into) => readNow(descriptor, into),
    get file() {
      return fstatSync(descriptor).isFile() ? plainFile(descriptor) : undefined;
    },
    get bytes() {
      const stat = fstatSync(descriptor);
      return stat.isFile() ? stat.size : undefined;
    },
  };
}

/**
 * Returns how many bytes of a regular file are left to read, if they may be more than `most`; 0 if that is not known
 * before they are read.
 */
function remainingBytes(descriptor: number, most: number): number {
  const stat = fstatSync(descriptor);
  if (!stat.isFile() || stat.size <= most) return 0;
  // A command before may have read a part of redirected input.
  const state = attempt(() => readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? '';
  const [, position] = /^pos:\s*(\d+)/m.exec(state) ?? [];
  return position === undefined ? 0 : stat.size - Number(position);
}

/** Returns the error for an input that exceeds this size. */
export const tooLarge = (maxBytes: number): CofferError =>
  new CofferError('too-large', `the input is larger than ${maxBytes / 2 ** 20} MiB`, {
    hint: 'for data of any size use "coffer transit envelope encrypt"',
  });

/**
 * Returns the stream for messages. If its reader has closed it, the work continues, and the exit code shows the result.
 */
function messagesTo(descriptor: number): Output {
  const output = outputTo(descriptor);
  return {
    get isTerminal() {
      return output.isTerminal;
    },
    get columns() {
      return output.columns;
    },
    write: (data) => void isRead(() => output.write(data)),
    writeLater: async (data) => void isRead(() => output.write(data)),
  };
}

function outputTo(descriptor: number): Output {
  let isRegular: boolean | undefined;
  return {
    get isTerminal() {
      return isTerminal(descriptor);
    },
    get columns() {
      const stream = descriptor === 1 ? process.stdout : process.stderr;
      return isTerminal(descriptor) && stream.columns > 0 ? stream.columns : DEFAULT_COLUMNS;
    },
    write(data) {
      writeWhole(descriptor, typeof data === 'string' ? Buffer.from(data) : data);
    },
    async writeLater(data) {
      isRegular ??= fstatSync(descriptor).isFile();
      if (isRegular) await writeWholeLater(descriptor, data);
      else writeWhole(descriptor, data);
    },
    get file() {
      const stat = fstatSync(descriptor);
      const isDevice = stat.isCharacterDevice() && !isTerminal(descriptor);
      return stat.isFile() || isDevice ? plainFile(descriptor) : undefined;
    },
  };
}

const plainFile = (descriptor: number): PlainFile => ({ descriptor, explain: (error) => error });

const chunkBytes = (descriptor: number): number =>
  fstatSync(descriptor).isFile() ? FILE_CHUNK_BYTES : PIPE_CHUNK_BYTES;

function readNow(descriptor: number, into: Uint8Array): number {
  for (;;) {
    try {
      return readSync(descriptor, into);
    } catch (error) {
      if (!shouldRetry(error)) return 0;
      pauseNow();
    }
  }
}

async function readLater(descriptor: number, into: Uint8Array): Promise<number> {
  for (;;) {
    try {
      return await answered<number>((done) => read(descriptor, into, 0, into.length, null, done));
    } catch (error) {
      if (!shouldRetry(error)) return 0;
      await pause(RETRY_MS);
    }
  }
}

/** Reads an input in chunks. */
export async function* chunksOf(input: Input): AsyncGenerator<Buffer> {
  const size = input.bytes === undefined ? PIPE_CHUNK_BYTES : FILE_CHUNK_BYTES;
  for (;;) {
    const buffer = alignedBuffer(size);
    const length = await input.read(buffer);
    if (length === 0) return;
    yield buffer.subarray(0, length);
  }
}

/**
 * Whether a failed read must be repeated, because another process made the pipe non-blocking; false at the end, as
 * Windows reports it.
 * @throws all other errors
 */
function shouldRetry(error: unknown): boolean {
  const code = codeOf(error);
  if (code === 'EAGAIN') return true;
  if (code === 'EOF') return false;
  throw error;
}

/** Writes all data, even if a pipe takes it in small pieces. */
export function writeWhole(descriptor: number, data: Uint8Array): void {
  let written = 0;
  while (written < data.length) {
    try {
      written += writeSync(descriptor, data, written);
    } catch (error) {
      requireBusy(error);
      pauseNow();
    }
  }
}

/** Writes all data asynchronously. */
export async function writeWholeLater(descriptor: number, data: Uint8Array): Promise<void> {
  let written = 0;
  while (written < data.length) {
    try {
      const rest = data.length - written;
      written += await answered<number>((done) => write(descriptor, data, written, rest, null, done));
    } catch (error) {
      requireBusy(error);
      await pause(RETRY_MS);
    }
  }
}

/**
 * Ignores the error of a full pipe that another process made non-blocking.
 * @throws all other errors of a write
 */
function requireBusy(error: unknown): void {
  const code = codeOf(error);
  if (code === 'EPIPE') throw new ClosedPipe();
  if (code !== 'EAGAIN') throw error;
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | null)?.code;

const pauseNow = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
};
