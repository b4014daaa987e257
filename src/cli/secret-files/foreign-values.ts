import { type CofferError, refusedAs, throwing } from '../../ground/errors.ts';
import type { SecretFile } from '../../secret-files/format.ts';
import { isCut } from '../../secret-files/value.ts';
import type { KeyReference } from '../../transit/envelope/ports.ts';
import type { Session } from '../session.ts';
import { mayBeOfOthers } from '../team/found-values.ts';
import { type LocatedValue, locatedIn } from './located.ts';
import { openValues, withoutStore } from './values.ts';

/** File that values were encrypted for, and that is about to be written. */
interface WrittenFile {
  readonly path: string;
  readonly file: SecretFile;
  /** The file as it was, if it had other encrypted values. */
  readonly before?: SecretFile | undefined;
  readonly key: KeyReference;
}

/**
 * Finds the files whose values were encrypted with the key of the same name of another store or keyring. Nobody could
 * open all values of such a file once it had a value of this key too.
 *
 * One value that opens is enough evidence that a file is not one of these; so that of others in the same file are seldom
 * opened. New values are mostly added at the end: the first one tells best whose file it is. A file with values of both
 * stores is left to its user, who can only mend it by setting values again.
 * @returns the error for each of these files, as commands that read them have it
 */
export async function foreignFiles<F extends WrittenFile>(
  session: Session,
  files: readonly F[],
): Promise<ReadonlyMap<F, CofferError>> {
  const found = new Map(files.map((file) => [file, valuesOfKey(file)] as const));
  const firsts = [...found].flatMap(([file, [first]]) => (first === undefined ? [] : [{ file, first }]));
  const opened = await attempted(
    session,
    firsts.map(({ first }) => first),
  );
  const foreign = new Map<F, CofferError>();
  for (const [index, { file }] of firsts.entries()) {
    if (!mayBeOfOthers(opened[index])) continue;
    const results = await attempted(session, found.get(file) ?? []);
    const refusals = results.filter(mayBeOfOthers);
    const [refusal] = refusals;
    if (refusal === undefined) continue;
    if (refusals.length === results.length) foreign.set(file, refusal);
    else session.warn(`${refusal.message}: it is left as it is`);
  }
  return foreign;
}

/**
 * Checks that there is a store to encrypt with.
 * @throws `not-found` if there is none; for a file with encrypted values it names one, since a new store would not open it
 */
export async function requireStore(session: Session, files: readonly WrittenFile[]): Promise<void> {
  const present = () => files.flatMap(({ path, file, before = file }) => locatedIn({ path, file: before }));
  await session.runner().catch(throwing((error) => withoutStore(error, present()) ?? error));
}

/** Returns the values of a file that are encrypted with a key of that name. Those whose end is missing tell nothing. */
const valuesOfKey = ({ path, file, before = file, key }: WrittenFile): readonly LocatedValue[] =>
  locatedIn(
    { path, file: before },
    ({ sealed }) =>
      sealed !== undefined && sealed.key === key.name && sealed.mount === key.mount && !isCut(sealed),
  );

/** Opens values. Whoever may only encrypt with a key learns nothing, and is not refused. */
const attempted = async (
  session: Session,
  values: readonly LocatedValue[],
): Promise<readonly (string | CofferError)[]> =>
  values.length === 0 ? [] : openValues(session, values, 'any').catch(refusedAs([]));
