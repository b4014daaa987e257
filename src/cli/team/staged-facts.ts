import { dirname, join, relative, sep } from 'node:path';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import type { SealedValue } from '../../secret-files/value.ts';
import { idsNeededBy } from '../../team/fact.ts';
import { contentsOf, stagedFiles } from '../repository/git.ts';
import { keyringAbove } from './place.ts';
import { factIn, untrackedFacts } from './witness.ts';

/*
 * Checks that a commit contains the facts that its other files need. Facts are new files, which `git commit -a` leaves
 * out: without them, colleagues cannot decrypt the values, and a removed member remains in.
 */

/** Staged file that needs a fact which git does not track. */
interface LackingFile {
  /** Path of the file, from the top of the working tree. */
  readonly path: string;
  /** Purpose of the fact, for error messages. */
  readonly what: string;
  /** Directory of the keyring, from the top of the working tree. */
  readonly keyring: string;
  /** Path of the fact, below that directory. */
  readonly fact: string;
}

/**
 * Returns the staged files that need facts of their keyring which git does not track. Neither a key nor trust in the
 * keyring is needed.
 * @param top top of the working tree
 * @param files staged files with their encrypted values
 */
export function filesLackingFacts(
  top: string,
  files: readonly { readonly path: string; readonly values: readonly SealedValue[] }[],
): readonly LackingFile[] {
  const untrackedBy = new Map<string, readonly string[]>();
  const lacking = (
    path: string,
    folder: string,
    needs: (untracked: readonly string[]) => readonly Need[],
  ): readonly LackingFile[] => {
    const place = keyringAbove(join(top, folder), () => false);
    if (place === undefined) return [];
    const untracked = untrackedBy.get(place.directory) ?? untrackedFacts(place);
    untrackedBy.set(place.directory, untracked);
    const keyring = relative(top, place.directory).split(sep).join('/');
    return needs(untracked).map(({ what, fact }) => ({ path, what, keyring, fact }));
  };
  const facts = stagedFiles(top).filter(({ path }) => FACT.test(path));
  return [
    ...files.flatMap(({ path, values }) =>
      lacking(path, dirname(path), (untracked) => needsOfValues(values, untracked)),
    ),
    ...[...contentsOf(top, facts)].flatMap(([{ path }, bytes]) => {
      const [, folder = '', inside = ''] = FACT.exec(path) ?? [];
      // A file that is not a fact needs none; other checks report it.
      const fact = Buffer.isBuffer(bytes) ? factIn(inside, bytes) : undefined;
      const ids = fact === undefined ? [] : idsNeededBy(fact);
      return lacking(path, folder, (untracked) => needsOfFact(ids, untracked));
    }),
  ];
}

/** Path of a fact from the top of the working tree: the folder of its keyring, and its path below the directory. */
const FACT = /^(.*\/)?\.coffer\/((?:[a-z]+\/)?[^/]+\.[0-9a-z]{32})$/;

type Need = Pick<LackingFile, 'what' | 'fact'>;

/** Returns the versions of keys that encrypt values; all of a number, since only decrypting shows which one it is. */
function needsOfValues(values: readonly SealedValue[], untracked: readonly string[]): readonly Need[] {
  const versions = new Map(
    values
      .filter(({ mount }) => mount === DEFAULT_MOUNT)
      .map(({ key, version }) => [`keys/${key}.v${version}.`, `version ${version} of key "${key}"`]),
  );
  return [...versions].flatMap(([start, what]) =>
    untracked.filter((fact) => fact.startsWith(start)).map((fact) => ({ what, fact })),
  );
}

const needsOfFact = (ids: readonly string[], untracked: readonly string[]): readonly Need[] =>
  untracked
    .filter((fact) => ids.includes(fact.slice(-32)))
    .map((fact) => ({ what: 'an earlier change', fact }));
