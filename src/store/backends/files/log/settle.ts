import { placed, unavailable } from '../../../../ground/errors.ts';
import type { Version } from '../../backend.ts';
import { versionOf } from '../../version.ts';
import { logged, type StateName } from '../state-directory.ts';
import type { StoreDirectory } from '../store-directory.ts';
import { rewrite } from './append.ts';

/** Most attempts to read a log from which files are deleted meanwhile. */
const LOOKS = 100;

/**
 * Makes the state include everything that the log proves. Records above the state's name are written and synced again:
 * whoever wrote them may not have synced them, and after a failed sync pages may count as written although they are
 * not. Under the write lock only.
 * @param admit called with the version before anything is changed; throws if it must not be accepted
 * @throws `corrupt` if the log ends below the state
 */
export async function settle(
  directory: StoreDirectory,
  name: StateName,
  admit: (version: Version) => void,
): Promise<Version> {
  const { log, state } = directory;
  const version = await settleLog(directory, name, admit);
  const problem = log.contradiction(name);
  if (problem !== undefined) throw problem;
  if (version === undefined || version.revision === name.revision) return versionOf(name);
  state.change(name, logged(version));
  return version;
}

/** Writes records above a revision again, and reads the whole log. @returns the version that it proves, if there is one */
export async function settleLog(
  { log, layout }: StoreDirectory,
  at: Version,
  admit: (version: Version) => void,
): Promise<Version | undefined> {
  for (let look = 0; look < LOOKS; look++) {
    if (!log.follow(at.revision)) continue;
    const above = log.above();
    admit(log.versionWith(above) ?? at);
    for (const { file, records } of above) await rewrite(file.path, records);
    if (log.follow(Number.POSITIVE_INFINITY)) return log.version;
  }
  throw unavailable(placed`files of ${{ file: layout.log }} keep disappearing`, { hint: 'try again' });
}
