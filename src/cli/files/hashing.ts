import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { alignedBuffer } from '../../ground/aligned.ts';
import { asCofferError, attempt, closing } from '../../ground/errors.ts';
import type { Session } from '../session.ts';
import { TransferProgress } from '../terminal/progress.ts';
import { type Input, tooLarge } from '../terminal/streams.ts';
import { openInFile } from './in-file.ts';
import { announceStandardInput, MAX_INPUT_BYTES, STANDARD } from './input.ts';

const CHUNK_BYTES = 1 << 20;

/**
 * Reads the rest of an input whose start was read.
 * @returns the whole input
 * @throws `too-large`, before the rest is read if its size is known
 */
export function readRest(input: Input, start: Buffer): Buffer {
  const limit = (input.bytes ?? 0) > MAX_INPUT_BYTES ? 0 : MAX_INPUT_BYTES - start.length;
  try {
    return Buffer.concat([start, input.readAll(limit)]);
  } catch (error) {
    // The remaining limit would not be a round number.
    throw asCofferError(error)?.kind === 'too-large' ? tooLarge(MAX_INPUT_BYTES) : error;
  }
}

/**
 * Hashes a main input of any size, with progress on a terminal.
 * @param start part that was read already
 */
export async function hashInput(
  session: Session,
  input: Input,
  start: Buffer,
  algorithm: string,
): Promise<Buffer> {
  return closing(new TransferProgress(session, input.bytes, false), (progress) =>
    hashOf(input, algorithm, progress, start),
  );
}

/**
 * Hashes an input of any size in constant memory.
 * @param algorithm name in `node:crypto`
 * @param start part of the input that was read already
 */
async function hashOf(
  input: Input,
  algorithm: string,
  progress: TransferProgress,
  start: Uint8Array = new Uint8Array(),
): Promise<Buffer> {
  const hash = createHash(algorithm).update(start);
  progress.add(start.length);
  // The next chunk of a file is read while this one is hashed. A pipe delivers little at a time, and blocking calls
  // cost less.
  const read = async (into: Buffer) => (input.bytes === undefined ? input.readNow(into) : input.read(into));
  let [piece, next]: [Buffer, Buffer] = [alignedBuffer(CHUNK_BYTES), alignedBuffer(CHUNK_BYTES)];
  for (let bytes = await read(piece); bytes > 0; ) {
    const reading = read(next);
    hash.update(piece.subarray(0, bytes));
    progress.add(bytes);
    [piece, next] = [next, piece];
    bytes = await reading;
  }
  return hash.digest();
}

/** Size in bytes from which hashing takes, or may take, longer than a request to a server. */
const LONG_BYTES = 2 ** 24;

/** Hashes files of any size, one after the other, with progress on a terminal. */
export class FileHasher {
  readonly #session: Session;
  readonly #progress: TransferProgress;
  /** Whether it takes so long that a question should be asked before. */
  readonly takesLong: boolean;

  /**
   * Opens the files, so that errors are found before the user is asked for a secret.
   * @param paths files to hash; `-` is standard input
   * @param field option or argument that named them, for messages
   * @throws `invalid` if one cannot be opened
   */
  constructor(session: Session, paths: readonly string[], field: string) {
    this.#session = session;
    const sizes = paths.map((path) => (path === STANDARD ? session.streams.in.bytes : sizeOf(path, field)));
    const total = sizes.reduce(
      (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    );
    this.#progress = new TransferProgress(session, total, false);
    this.takesLong = total === undefined || total > LONG_BYTES;
  }

  /**
   * Hashes a file.
   * @param algorithm name in `node:crypto`
   */
  async hash(path: string, algorithm: string, field: string): Promise<Buffer> {
    if (path === STANDARD) {
      announceStandardInput(this.#session);
      return this.hashRest(this.#session.streams.in, algorithm);
    }
    return closing(openInFile(path, field), (file) => this.hashRest(file, algorithm));
  }

  /**
   * Hashes an input that was partly read.
   * @param start part that was read
   */
  hashRest(input: Input, algorithm: string, start?: Uint8Array): Promise<Buffer> {
    return hashOf(input, algorithm, this.#progress, start);
  }

  close(): void {
    this.#progress.close();
  }
}

/**
 * Returns the size of a file; undefined for a pipe, which is not opened here: its writer would take that for its only
 * reader.
 */
function sizeOf(path: string, field: string): number | undefined {
  if (isFifo(path)) return undefined;
  const file = openInFile(path, field);
  file.close();
  return file.bytes;
}

const isFifo = (path: string): boolean => attempt(() => statSync(path).isFIFO()) === true;
