import { placed, unavailable } from '../../../../ground/errors.ts';
import type { Version } from '../../backend.ts';
import { versionOf } from '../../version.ts';
import { logged, type StateName } from '../state-directory.ts';
import type { StoreDirectory } from '../store-directory.ts';
import { rewrite } from './append.ts';
import { Log } from './log.ts';

/** Most attempts to read a log from which files are deleted meanwhile. */
const LOOKS = 100;

/** Called with the version that is about to be made; throws if it must not be. Records nothing. */
type Examine = (version: Version) => void;

/**
 * Makes the state include everything that the log proves. Records above the state's name are written and synced again:
 * whoever wrote them may not have synced them, and after a failed sync pages may count as written although they are
 * not. Under the write lock only. Until the state has its new name, and if this fails, readers in this process find
 * the log as it was.
 * @throws `corrupt` if the log ends below the state
 */
export async function settle(directory: StoreDirectory, name: StateName, examine: Examine): Promise<Version> {
  const { layout, log, state } = directory;
  // A process that was shown what is above the name keeps that.
  const present = log.files.some((file) => file.isAbove(name.revision)) ? fresh(directory) : log;
  const isAbove = await rewriteAbove({ layout, log: present }, name, examine);
  if (!isAbove) {
    const problem = present.contradiction(name);
    if (problem !== undefined) throw problem;
    if (present.version === undefined || present.version.revision === name.revision) return versionOf(name);
  }
  const whole = readAll(directory, fresh(directory));
  const problem = whole.contradiction(name);
  if (problem !== undefined) throw problem;
  const { version } = whole;
  if (version === undefined || version.revision === name.revision) return versionOf(name);
  examine(version);
  state.change(name, logged(version));
  readAll(directory, log);
  return version;
}

/**
 * Writes all records again, where there is no state that says which of them it includes.
 * @returns the version that the log proves, if there is one
 */
export async function settleLog(directory: StoreDirectory): Promise<Version | undefined> {
  const { log } = directory;
  await rewriteAbove(directory, { generation: 0, revision: -1 }, () => undefined);
  return readAll(directory, log).version;
}

/** Writes the records above a version again. @returns whether there are any */
async function rewriteAbove(
  { layout, log }: Pick<StoreDirectory, 'layout' | 'log'>,
  at: Version,
  examine: Examine,
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
function readAll({ layout }: StoreDirectory, log: Log): Log {
  for (let look = 0; look < LOOKS; look++) if (log.follow(Number.POSITIVE_INFINITY)) return log;
  throw disappearing(layout);
}

/** The same log, of which nothing was read. */
function fresh({ layout, log }: StoreDirectory): Log {
  const same = new Log(layout);
  same.storeId = log.storeId;
  return same;
}

const disappearing = (layout: StoreDirectory['layout']): unknown =>
  unavailable(placed`files of ${{ file: layout.log }} keep disappearing`, { hint: 'try again' });
