import { readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { attempt } from '../../ground/errors.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import type { SealedValue } from '../../secret-files/value.ts';
import { idsNeededBy } from '../../team/fact.ts';
import { contentsOf, stagedFiles } from '../repository/git.ts';
import { type KeyringPlace, keyringAbove } from './place.ts';
import { factIn, untrackedFacts } from './witness.ts';

/*
 * Checks that a commit contains the facts that its other files need. Facts are new files, which `git commit -a` leaves
 * out: without them, colleagues cannot decrypt the values, and a removed member remains in.
 */

/** Staged file that needs a fact which the commit would not have. */
interface LackingFile {
  /** Path of the file, from the top of the working tree. */
  readonly path: string;
  /** Purpose of the fact, for error messages. */
  readonly what: string;
  /** Directory of the keyring, from the top of the working tree. */
  readonly keyring: string;
  /** Path of the fact, below that directory; undefined if the working tree does not have it either. */
  readonly fact?: string;
}

/**
 * Returns the staged files that need facts of their keyring which git does not track or which are missing. Neither a key nor trust in the
 * keyring is needed.
 * @param top top of the working tree
 * @param files staged files with their encrypted values
 */
export function filesLackingFacts(
  top: string,
  files: readonly { readonly path: string; readonly values: readonly SealedValue[] }[],
): readonly LackingFile[] {
  const known = new Map<string, PresentFacts>();
  const lacking = (
    path: string,
    folder: string,
    needs: (present: PresentFacts) => readonly Need[],
  ): readonly LackingFile[] => {
    const place = keyringAbove(join(top, folder), () => false);
    if (place === undefined) return [];
    const present = known.get(place.directory) ?? presentFacts(place);
    known.set(place.directory, present);
    const keyring = relative(top, place.directory).split(sep).join('/');
    return needs(present).map((need) => ({ path, keyring, ...need }));
  };
  const facts = stagedFiles(top).filter(({ path }) => FACT.test(path));
  return [
    ...files.flatMap(({ path, values }) =>
      lacking(path, dirname(path), (present) => needsOfValues(values, present)),
    ),
    ...[...contentsOf(top, facts)].flatMap(([{ path }, bytes]) => {
      const [, folder = '', inside = ''] = FACT.exec(path) ?? [];
      // A file that is not a fact needs none; other checks report it.
      const fact = Buffer.isBuffer(bytes) ? factIn(inside, bytes) : undefined;
      const ids = fact === undefined ? [] : idsNeededBy(fact);
      return lacking(path, folder, ({ untracked }) => needsOfFact(ids, untracked));
    }),
  ];
}

/** Path of a fact from the top of the working tree: the folder of its keyring, and its path below the directory. */
const FACT = /^(.*\/)?\.coffer\/((?:[a-z]+\/)?[^/]+\.[0-9a-z]{32})$/;

type Need = Pick<LackingFile, 'what' | 'fact'>;

/** Facts in the working tree, as paths below the directory of the keyring. */
interface PresentFacts {
  readonly untracked: readonly string[];
  /** Those of keys. */
  readonly keys: readonly string[];
}

const presentFacts = (place: KeyringPlace): PresentFacts => ({
  untracked: untrackedFacts(place),
  keys: (attempt(() => readdirSync(join(place.directory, KEYS))) ?? []).map((name) => `${KEYS}/${name}`),
});

const KEYS = 'keys';

/**
 * Returns the versions of keys that encrypt values and that the commit would not have; of untracked ones all of a
 * number, since only decrypting shows which one it is. A key without any version is not of this keyring.
 */
function needsOfValues(values: readonly SealedValue[], { untracked, keys }: PresentFacts): readonly Need[] {
  const ofKeyring = values.filter(({ mount }) => mount === DEFAULT_MOUNT);
  const versions = new Map(
    ofKeyring.map(({ key, version }) => [`${KEYS}/${key}.v${version}.`, { key, version }]),
  );
  return [...versions].flatMap(([start, { key, version }]): readonly Need[] => {
    const what = `version ${version} of key "${key}"`;
    if (keys.some((fact) => fact.startsWith(start)))
      return untracked.filter((fact) => fact.startsWith(start)).map((fact) => ({ what, fact }));
    return keys.some((fact) => fact.startsWith(`${KEYS}/${key}.v`)) ? [{ what }] : [];
  });
}

const needsOfFact = (ids: readonly string[], untracked: readonly string[]): readonly Need[] =>
  untracked
    .filter((fact) => ids.includes(fact.slice(-32)))
    .map((fact) => ({ what: 'an earlier change', fact }));
