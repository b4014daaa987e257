import { type CofferError, corrupt, placed, unavailable } from '../../../../ground/errors.ts';
import { REPAIR } from '../../../refusals.ts';
import type { Version } from '../../backend.ts';
import { versionOf } from '../../witness.ts';
import type { Layout } from '../layout.ts';
import { logged, type StateName } from '../state-directory.ts';
import type { StoreDirectory } from '../store-directory.ts';
import { rewrite } from './append.ts';
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

/** Most attempts to read a log from which files are deleted meanwhile. */
export const LOOKS = 100;

/** Called with the version that is about to be made; throws if it must not be. Records nothing. */
type Examine = (version: Version) => void;

/**
 * Makes the state include everything that the log proves. Records above the state's name are written and synced again:
 * whoever wrote them may not have synced them, and after a failed sync pages may count as written although they are
 * not. Under the write lock only. Readers in this process find the log as it was until all is done.
 * @throws `corrupt` if the log ends below the state
 */
export async function settle(directory: StoreDirectory, name: StateName, examine: Examine): Promise<Version> {
  const { layout, log, state } = directory;
  const own = log.copy();
  const isAbove = await rewriteAbove(layout, own, {
    at: name,
    examine: (version) => {
      // Before anything is written: whoever finds damage looks again as long as the files change.
      const whole = readAll(layout, own.copy());
      const problem = whole.contradiction(name) ?? whole.damage() ?? holeIn(whole);
      if (problem !== undefined) throw problem;
      examine(version);
    },
  });
  if (isAbove || own.version?.revision !== name.revision) readAll(layout, own);
  const problem = own.contradiction(name) ?? own.damage() ?? (isAbove ? undefined : holeIn(own));
  if (problem !== undefined) throw problem;
  const { version } = own;
  if (version === undefined || version.revision === name.revision) {
    log.become(own, name);
    return versionOf(name);
  }
  examine(version);
  const settled = logged(version);
  state.change(name, settled);
  log.become(own, settled);
  return version;
}

/**
 * Writes all records again: for a store without a state file, which would say which of them are applied already.
 * @returns the version that the log proves, if there is one
 */
export async function settleLog(directory: StoreDirectory): Promise<Version | undefined> {
  const { layout, log } = directory;
  const own = log.copy();
  await rewriteAbove(layout, own, { at: { generation: 0, revision: -1 }, examine: () => undefined });
  log.become(readAll(layout, own), undefined);
  return log.version;
}

/** Writes the records above a version again. @returns whether there are any */
async function rewriteAbove(
  layout: Layout,
  log: Log,
  { at, examine }: { readonly at: Version; readonly examine: Examine },
): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    if (!log.follow(at.revision)) continue;
    const above = log.above();
    if (above.length === 0) return false;
    examine(log.versionWith(above) ?? at);
    for (const { file, records } of above) await rewrite(file.path, records);
    return true;
  }
  throw disappearing(layout);
}

/** Reads a log to its end. */
function readAll(layout: Layout, log: Log): Log {
  for (let look = 0; look < LOOKS; look++) if (log.follow(Number.POSITIVE_INFINITY)) return log;
  throw disappearing(layout);
}

/** Returns the error for a log that could not be read in `LOOKS` attempts. */
export const disappearing = (layout: Layout): CofferError =>
  unavailable(placed`files of ${{ file: layout.log }} keep disappearing`, { hint: 'try again' });
