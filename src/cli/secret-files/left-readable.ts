import { dirname, relative, resolve } from 'node:path';
import { conflict } from '../../ground/errors.ts';
import { lineCounter, type ScalarPlace, type SecretFile } from '../../secret-files/format.ts';
import { isSecret, RULES_NAME } from '../../secret-files/rules.ts';
import type { KeyReference } from '../../transit/envelope/ports.ts';
import { quoted } from '../completions/model.ts';
import { git } from '../repository/git.ts';
import type { Session } from '../session.ts';
import { isBelowKeyring, mayHaveKeyring, teamKeysFor } from '../team/nearest.ts';
import type { Rulebook } from './rulebook.ts';
import type { ReadFile } from './transform.ts';

/*
 * Everybody who can push can change the rules of a repository. These two checks make sure that such a change does not
 * silently leave values unencrypted for the user who encrypts or uses them.
 */

/** Maximum number of names in a question or an error. */
const MOST_NAMES = 10;

/** File to encrypt: its state in the last commit, and the planned changes. */
interface EncryptionPlan {
  readonly path: string;
  readonly file: SecretFile;
  readonly key: KeyReference;
  /** Values to encrypt. */
  readonly places: readonly ScalarPlace[];
  /** The file as in the last commit. */
  readonly committed: SecretFile | undefined;
}

/**
 * Asks once about all values that are encrypted in the last commit, but that the rules leave unencrypted or encrypt
 * with another key.
 * @returns false if the answer is no
 * @throws `conflict` if the user cannot be asked and `--yes` is not given
 */
export async function consentToLess(
  session: Session,
  rulebook: Rulebook,
  plans: readonly EncryptionPlan[],
  isKeyNamed: boolean,
): Promise<boolean> {
  const changes = plans.flatMap((plan) => lessIn(plan, isKeyNamed));
  if (changes.length === 0) return true;
  const shown = changes.slice(0, MOST_NAMES).join('; ');
  const more = changes.length > MOST_NAMES ? `; and ${changes.length - MOST_NAMES} more` : '';
  const what = `the last commit encrypts more values than ${RULES_NAME} now says: ${shown}${more}${await lastChange(rulebook, plans)}`;
  if (!session.settings.yes && !session.prompts.available()) {
    throw conflict(what, { hint: `review the changes to ${RULES_NAME}; if they are right, use --yes` });
  }
  return session.confirmed(async () => `${what[0]?.toUpperCase()}${what.slice(1)}. Continue?`);
}

function lessIn(
  { path, file, key, places, committed }: EncryptionPlan,
  isKeyNamed: boolean,
): readonly string[] {
  const before = new Map(committed?.places.map(({ name, sealed }) => [name, sealed]));
  const meant = new Set(places);
  return file.places.flatMap((place) => {
    const sealed = before.get(place.name);
    if (sealed === undefined || place.sealed !== undefined || !isSecret(place, undefined)) return [];
    if (!meant.has(place)) return [`${place.name} of ${path} would be readable`];
    const isUnderAnother = sealed.key !== key.name || sealed.mount !== key.mount;
    if (!isUnderAnother || isKeyNamed) return [];
    return [`${place.name} of ${path} would change from key "${sealed.key}" to "${key.name}"`];
  });
}

/** Returns the last commit and author of the rules; empty if they are not committed, or without git. */
async function lastChange(rulebook: Rulebook, plans: readonly EncryptionPlan[]): Promise<string> {
  for (const { path } of plans) {
    const rules = await rulebook.rulesOf(dirname(resolve(path)));
    if (rules === undefined) continue;
    const told = git(rules.directory, ['log', '-1', '--format=%h by %an', '--', RULES_NAME])
      ?.toString()
      .trim();
    return told ? ` (last changed in ${told})` : '';
  }
  return '';
}

/**
 * Refuses unencrypted values where the rules of a repository with a keyring require encrypted ones: an attacker who can
 * push, but has no key, can only insert unencrypted values.
 * @param places values that are about to be used
 * @throws `conflict` naming file, line and value
 */
export async function refuseReadable(
  session: Session,
  rulebook: Rulebook,
  { path, file }: ReadFile,
  places: readonly ScalarPlace[],
): Promise<void> {
  const plain = places.filter((place) => place.sealed === undefined);
  const directory = dirname(resolve(path));
  if (plain.length === 0 || !mayHaveKeyring(session, directory)) return;
  const rule = await rulebook.ruleFor(path);
  const wrong = rule && plain.find((place) => isSecret(place, rule));
  // An attacker who can push can remove the keyring as well.
  if (wrong === undefined || !(isBelowKeyring(directory) || (await teamKeysFor(session, path)))) return;
  const line = lineCounter(file.text)(wrong.start);
  const typed = forTheShell(relative('.', path));
  throw conflict(`${path}:${line}: ${wrong.name} is not encrypted, but ${RULES_NAME} says to encrypt it`, {
    hint: `check its author with "git log -p ${typed}"; if it is right, run "coffer secrets encrypt ${typed}"`,
  });
}

/** Quotes a path for a command that the user pastes: file names may be chosen by an attacker who can push. */
const forTheShell = (path: string): string =>
  /^\w[\w./-]*$/.test(path) ? path : quoted(path.startsWith('-') ? `./${path}` : path);
