import { dirname, relative, resolve } from 'node:path';
import { conflict } from '../../ground/errors.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { lineCounter, type ScalarPlace, type SecretFile } from '../../secret-files/format.ts';
import { isSecret, looksSecret, RULES_NAME, type Rule } from '../../secret-files/rules.ts';
import type { KeyReference } from '../../transit/envelope/ports.ts';
import type { Session } from '../session.ts';
import { hasKeyring } from '../team/nearest.ts';
import { quoted } from '../terminal/shell-word.ts';
import type { RuledPath } from './last-rules.ts';
import { warnOfOtherTool } from './other-tools.ts';
import { few, lastChangeIn, type Rulebook } from './rulebook.ts';
import type { ReadFile } from './secret-file.ts';

/*
 * Anyone who can push can change the rules of a repository. These two checks make sure that such a change does not
 * silently leave values unencrypted for the user who encrypts or uses them.
 */

/** File to encrypt: its state in the last commit, and the planned changes. */
interface EncryptionPlan {
  readonly path: string;
  readonly file: Pick<SecretFile, 'places'>;
  /** Key to encrypt with; undefined if no value needs encryption. */
  readonly key: KeyReference | undefined;
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
  const [changed] = plans.flatMap(({ path }) => rulebook.sourceOf(dirname(resolve(path))) ?? []);
  const what = `${RULES_NAME} no longer encrypts values as in the last commit: ${few(changes)}${lastChangeIn(changed?.directory)}`;
  if (!session.settings.yes && !session.prompts.available()) {
    throw conflict(what, { hint: `review the changes to ${RULES_NAME}; if they are right, use --yes` });
  }
  return session.confirmed(async () => `${what}. Continue?`);
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
    if (key === undefined || !meant.has(place)) return [`${place.name} of ${path} would be readable`];
    const isUnderAnother = sealed.key !== key.name || sealed.mount !== key.mount;
    if (!isUnderAnother || isKeyNamed) return [];
    return [`${place.name} of ${path} would change from key "${sealed.key}" to "${key.name}"`];
  });
}

/**
 * Asks once about rules that may encrypt less than those that this machine used last.
 * @throws `conflict` if the user cannot be asked and `--yes` is not given, or says no
 */
export async function requireRules(session: Session, rulebook: Rulebook, read: RuledPath): Promise<void> {
  if (!(await hasKeyring(session, read.path))) return;
  const rules = rulebook.sourceOf(dirname(resolve(read.path)));
  const { agentKnowsRules } = await import('../team/agent-reading.ts');
  if (await agentKnowsRules(session, read.path, rules)) return;
  const { requireLastRules } = await import('./last-rules.ts');
  await requireLastRules(session, rulebook, read);
}

/** Value that is about to be used. */
interface UsedValue {
  readonly place: ScalarPlace;
  /** Variable of a program that it becomes; undefined if it becomes none. */
  readonly variable?: string;
}

/**
 * Refuses unencrypted values where the rules of a repository with a keyring require encrypted ones: an attacker who can
 * push, but has no key, can only insert unencrypted values, and values encrypted with the store or server of a user.
 * @param used values that are about to be used
 * @throws `conflict` naming file, line and value
 */
export async function refuseReadable(
  session: Session,
  rulebook: Rulebook,
  { path, file }: ReadFile,
  used: readonly UsedValue[],
): Promise<void> {
  const plain = used.filter(({ place }) => place.sealed === undefined);
  warnOfOtherTool(
    session,
    path,
    plain.map(({ place }) => place),
  );
  const foreign = used.filter(
    ({ place }) => !session.settings.placeNamed && (place.sealed?.mount ?? DEFAULT_MOUNT) !== DEFAULT_MOUNT,
  );
  if ((plain.length === 0 && foreign.length === 0) || !(await hasKeyring(session, path))) return;
  const rule = await rulebook.ruleFor(path);
  if (rule === undefined) return;
  for (const { place } of foreign) refuseForeign(rule, { path, file }, place);
  const isNamed = ({ place }: UsedValue): boolean => isSecret(place, rule);
  // In a .env file, the name is the variable.
  const isLike = ({ place, variable }: UsedValue): boolean =>
    variable !== undefined && file.format !== 'dotenv' && looksSecret(place, rule, variable);
  const wrong = plain.find(isNamed) ?? plain.find(isLike);
  if (wrong === undefined) return;
  const { place, variable } = wrong;
  const line = lineCounter(file.text)(place.start);
  const typed = forTheShell(relative('.', path));
  const told = `${path}:${line}: ${place.name} is not encrypted, but`;
  const check = `check which commit added it, e.g. with "git log -p ${typed}"; if the value is right,`;
  if (isNamed(wrong))
    throw conflict(`${told} ${RULES_NAME} says to encrypt it`, {
      hint: `${check} run "coffer secrets encrypt ${typed}"`,
    });
  throw conflict(
    `${told} the program gets it as ${variable}, and ${RULES_NAME} says to encrypt values that become this variable`,
    { hint: `${check} add ${place.name} to except: in ${RULES_NAME}` },
  );
}

/** Refuses a value of a mount, which keyrings do not have, where the rule names none. */
function refuseForeign(
  rule: Rule,
  { path, file }: Pick<ReadFile, 'path' | 'file'>,
  place: ScalarPlace,
): void {
  if (rule.mount !== undefined || place.sealed === undefined || !isSecret(place, rule)) return;
  const { mount, key } = place.sealed;
  const line = lineCounter(file.text)(place.start);
  throw conflict(
    `${path}:${line}: ${place.name} is encrypted with the key ${mount}/${key} of a store or server, but ${RULES_NAME} says to encrypt it with the keyring`,
    {
      hint: `check which commit added it, e.g. with "git log -p ${forTheShell(relative('.', path))}"; if the value is right, add mount: to the rule in ${RULES_NAME}`,
    },
  );
}

/** Quotes a path for a command that the user pastes: file names may be chosen by an attacker who can push. */
const forTheShell = (path: string): string =>
  /^\w[\w./-]*$/.test(path) ? path : quoted(path.startsWith('-') ? `./${path}` : path);
