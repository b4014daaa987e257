import { type CofferError, corrupt, placed } from '../../../../ground/errors.ts';
import { REPAIR } from '../../../refusals.ts';
import { isOfThisBoot, thisBoot } from './boot.ts';
import { bootIn, nextPlace, RECORD_HEAD_BYTES } from './format.ts';
import type { Log } from './log.ts';
import { LogBytes } from './log-bytes.ts';
import type { LogFile } from './log-file.ts';
import { nextRecord } from './search.ts';

const CHUNK_BYTES = 256 * 1024;

/**
 * Looks for a change behind the end of a log that was read to its end. A record is begun only when the one before it is
 * on the disk: then the log does not end there with what was torn by a power failure, but is damaged, and a writer would
 * write over changes that were acknowledged.
 * @returns the error for that; undefined if there is none
 */
export function holeIn({ newest }: Log): CofferError | undefined {
  if (newest === undefined || newest.above.length > 0) return undefined;
  const { path, next } = newest;
  const isHole = LogBytes.of(path, (file) => mayHaveHole(file, newest) && hasRecordAfter(file, newest));
  if (isHole !== true) return undefined;
  return corrupt(placed`${{ file: path }} is damaged at offset ${next}: later changes are behind it`, {
    hint: REPAIR,
  });
}

/**
 * Whether something was begun there, or the last record was written before the machine was started. Where one boot
 * cannot be told from another, the latter does not count: the rest of the file would be read each time.
 */
function mayHaveHole(file: LogBytes, { records, begin, next }: LogFile): boolean {
  if (file.alone(next, RECORD_HEAD_BYTES).some((byte) => byte !== 0)) return true;
  if (records === 0 || !isOfThisBoot(thisBoot())) return false;
  return !isOfThisBoot(bootIn(file.alone(begin, RECORD_HEAD_BYTES)));
}

function hasRecordAfter(file: LogBytes, { next, revision, head: { generation } }: LogFile): boolean {
  const zeros = Buffer.alloc(CHUNK_BYTES);
  const chunks: Buffer[] = [];
  for (let at = next; ; at += CHUNK_BYTES) {
    const chunk = file.alone(at, CHUNK_BYTES);
    chunks.push(chunk);
    if (chunk.length < CHUNK_BYTES) break;
  }
  if (chunks.every((chunk) => chunk.equals(zeros.subarray(0, chunk.length)))) return false;
  const bytes = Buffer.concat(chunks);
  const bounds = { generation, from: revision, upTo: Number.MAX_SAFE_INTEGER };
  const found = nextRecord(bytes, 0, bounds);
  // What is torn may have a list that is whole.
  if (found?.offset === 0) return nextRecord(bytes, nextPlace(found.bytes.length), bounds) !== undefined;
  return found !== undefined;
}
