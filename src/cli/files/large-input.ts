import { createHash } from 'node:crypto';
import { alignedBuffer } from '../../ground/aligned.ts';
import { asCofferError } from '../../ground/errors.ts';
import type { Session } from '../session.ts';
import { TransferProgress } from '../terminal/progress.ts';
import { type Input, tooLarge } from '../terminal/streams.ts';
import { MAX_INPUT_BYTES } from './input.ts';

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
  const progress = new TransferProgress(session, input.bytes, false);
  try {
    return await hashOf(input, algorithm, progress, start);
  } finally {
    progress.end();
  }
}

/**
 * Hashes an input of any size in constant memory.
 * @param algorithm name in `node:crypto`
 * @param start part of the input that was read already
 */
export async function hashOf(
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
