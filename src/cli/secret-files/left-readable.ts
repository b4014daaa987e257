import { dirname, relative, resolve } from 'node:path';
import { conflict } from '../../ground/errors.ts';
import { lineCounter, type Place, type SecretFile } from '../../secret-files/format.ts';
import { isSecret, RULES_NAME } from '../../secret-files/rules.ts';
import type { KeyReference } from '../../transit/envelope/ports.ts';
import { quoted } from '../completions/model.ts';
import type { Session } from '../session.ts';
import { isBelowKeyring, mayHaveKeyring, teamKeysFor } from '../team/nearest.ts';
import { git } from './git.ts';
import type { Rulebook } from './rulebook.ts';
import type { ReadFile } from './transform.ts';

/*
 * The rules of a repository are changed by whoever can push. These two checks see to it that nothing is less encrypted because of that
 * without a word to the person who encrypts or uses it.
 */

/** How many names a question or refusal shows. */
const MOST_NAMES = 10;

/** A file about to be encrypted: what of it the last commit has, and what is to become of it now. */
export interface Plan {
  readonly path: string;
  readonly file: SecretFile;
  readonly key: KeyReference;
  /** The values that are to be encrypted. */
  readonly places: readonly Place[];
  /** The file as the last commit has it. */
  readonly committed: SecretFile | undefined;
}

/**
 * Asks once about all values that the last commit has encrypted, and that the rules leave readable, or put under another key.
 * @returns false when the answer is no.
 * @throws `conflict` where there is nobody to ask and `--yes` was not said.
 */
export async function consentToLess(
  session: Session,
  rulebook: Rulebook,
  plans: readonly Plan[],
  isKeyNamed: boolean,
): Promise<boolean> {
  const changes = plans.flatMap((plan) => lessIn(plan, isKeyNamed));
  if (changes.length === 0) return true;
  const shown = changes.slice(0, MOST_NAMES).join('; ');
  const more = changes.length > MOST_NAMES ? `; and ${changes.length - MOST_NAMES} more` : '';
  const what = `the last commit has more encrypted than ${RULES_NAME} wants now: ${shown}${more}${await lastChange(rulebook, plans)}`;
  if (!session.settings.yes && !session.prompts.available()) {
    throw conflict(what, { hint: `read what was changed in ${RULES_NAME}; if it is right, say --yes` });
  }
  return session.confirmed(async () => `${what[0]?.toUpperCase()}${what.slice(1)}. Go on?`);
}

function lessIn({ path, file, key, places, committed }: Plan, isKeyNamed: boolean): readonly string[] {
  const before = new Map(committed?.places.map(({ name, sealed }) => [name, sealed]));
  const meant = new Set(places);
  return file.places.flatMap((place) => {
    const sealed = before.get(place.name);
    if (sealed === undefined || place.sealed !== undefined || !isSecret(place, undefined)) return [];
    if (!meant.has(place)) return [`${place.name} of ${path} would be readable`];
    const isUnderAnother = sealed.key !== key.name || sealed.mount !== key.mount;
    if (!isUnderAnother || isKeyNamed) return [];
    return [`${place.name} of ${path} would go from key "${sealed.key}" to "${key.name}"`];
  });
}

/** Who changed the rules last, as git tells it; empty where they were not committed, or git is not there. */
async function lastChange(rulebook: Rulebook, plans: readonly Plan[]): Promise<string> {
  for (const { path } of plans) {
    const rules = await rulebook.rulesOf(dirname(resolve(path)));
    if (rules === undefined) continue;
    const told = git(rules.directory, ['log', '-1', '--format=%h by %an', '--', RULES_NAME])
      ?.toString()
      .trim();
    return told ? ` (changed last in ${told})` : '';
  }
  return '';
}

/**
 * Refuses values in the clear that stand where the rules of a repository with a keyring want encrypted ones: somebody who can push, and
 * has no key, can put nothing else there.
 * @param places those that are about to be used.
 * @throws `conflict` naming file, line and value.
 */
export async function refuseReadable(
  session: Session,
  rulebook: Rulebook,
  { path, file }: ReadFile,
  places: readonly Place[],
): Promise<void> {
  const plain = places.filter((place) => place.sealed === undefined);
  const directory = dirname(resolve(path));
  if (plain.length === 0 || !mayHaveKeyring(session, directory)) return;
  const rule = await rulebook.ruleFor(path);
  const wrong = rule && plain.find((place) => isSecret(place, rule));
  // Whoever can push can take a keyring away, too.
  if (wrong === undefined || !(isBelowKeyring(directory) || (await teamKeysFor(session, path)))) return;
  const line = lineCounter(file.text)(wrong.start);
  const typed = forTheShell(relative('.', path));
  throw conflict(`${path}:${line}: ${wrong.name} is not encrypted, and ${RULES_NAME} wants it to be`, {
    hint: `see who wrote it with "git log -p ${typed}"; if it is right, "coffer secrets encrypt ${typed}"`,
  });
}

/** A path in a command that is to be pasted: whoever can push chooses what a file is called. */
const forTheShell = (path: string): string =>
  /^\w[\w./-]*$/.test(path) ? path : quoted(path.startsWith('-') ? `./${path}` : path);
