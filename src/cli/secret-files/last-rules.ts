import { dirname, join, relative, resolve, sep } from 'node:path';
import { conflict, refusedAs } from '../../ground/errors.ts';
import type { SecretFile } from '../../secret-files/format.ts';
import { isSecret, RULES_NAME, type Rule, ruleFor } from '../../secret-files/rules.ts';
import { keysBetween, lossesBetween } from '../../secret-files/rules-change.ts';
import { topOf } from '../repository/git.ts';
import { isPinned } from '../secrets/identities.ts';
import { namedIdentities } from '../secrets/identity-places.ts';
import type { Session } from '../session.ts';
import { TeamMemory } from '../team/memory.ts';
import { placeIn } from '../team/place.ts';
import { few, lastChangeIn, parsedRules, type Rulebook, type RulesSource } from './rulebook.ts';

/*
 * Rules of repositories with a keyring, as they were last used on this machine. An attacker who can push can change the
 * rules and put a readable value in the place of a secret in one commit; only a machine's memory tells that the value
 * was to be encrypted.
 */

/** File that rules are required for: with its values, if they are known. */
export interface RuledPath {
  readonly path: string;
  readonly file?: Pick<SecretFile, 'places'>;
}

/**
 * Asks once about rules that may encrypt less than those that this machine used last, reports keys that changed, and
 * remembers the present rules. On first use, and in a pipeline, which remembers nothing, any rules are accepted.
 * @throws `conflict` if the user refuses, or cannot be asked and `--yes` is not given
 * @see docs/decisions/0313
 */
export async function requireLastRules(session: Session, rulebook: Rulebook, read: RuledPath): Promise<void> {
  if (isPinned(namedIdentities(session.environment))) return;
  const memory = new TeamMemory(session.environment);
  if (!memory.isKept) return;
  const directory = dirname(resolve(read.path));
  const now = rulebook.sourceOf(directory);
  const last = lastRulesOf(memory, directory);
  if (isSame(last, now)) return;
  if (last !== undefined) {
    const rules = (await rulebook.rulesOf(directory))?.rules;
    const change = lastChangeIn(now?.directory ?? last.directory);
    const { losses, keys } = await differences(last, now?.directory, rules);
    if (losses.length > 0) {
      const readable = await newlyReadable(last, rulebook, read);
      await requireConsent(session, [...readable, ...losses], change);
    }
    if (keys.length > 0)
      session.warn(`${RULES_NAME} was changed since it was last used here: ${few(keys)}${change}`);
    // Both are above the same file: the longer one is nearer, and is used no more.
    if (now === undefined || last.directory.length > now.directory.length)
      memory.setRulesAt(markOf(last.directory), undefined);
  }
  if (now !== undefined) memory.setRulesAt(markOf(now.directory), now.bytes);
}

const isSame = (last: RulesSource | undefined, now: RulesSource | undefined): boolean =>
  last === undefined || now === undefined
    ? last === now
    : last.directory === now.directory && last.bytes.equals(now.bytes);

/** Whether rules are those that were used last for files of a directory. */
export const areLastRules = (memory: TeamMemory, directory: string, now: RulesSource | undefined): boolean =>
  isSame(lastRulesOf(memory, directory), now);

const markOf = (directory: string): string => placeIn(directory).mark;

/** Returns the rules that applied to a directory: its own, otherwise those of its parent, within the repository. */
function lastRulesOf(memory: TeamMemory, directory: string): RulesSource | undefined {
  const top = topOf(directory);
  for (let folder = directory; ; folder = dirname(folder)) {
    const bytes = memory.rulesAt(placeIn(folder, top).mark);
    if (bytes !== undefined) return { directory: folder, bytes };
    if (folder === top || dirname(folder) === folder) return undefined;
  }
}

const shownRules = (directory: string): string => relative('.', join(directory, RULES_NAME));

async function differences(
  last: RulesSource,
  directory: string | undefined,
  now: readonly Rule[] | undefined,
): Promise<{ readonly losses: readonly string[]; readonly keys: readonly string[] }> {
  const before = shownRules(last.directory);
  if (directory === undefined || now === undefined)
    return { losses: [`${before} no longer exists`], keys: [] };
  if (directory !== last.directory)
    return { losses: [`${shownRules(directory)} applies in place of ${before}`], keys: [] };
  const rules = await rulesIn(last);
  return { losses: lossesBetween(rules, now), keys: keysBetween(rules, now) };
}

/** Parses remembered rules. Ones that were invalid had no effect. */
const rulesIn = ({ directory, bytes }: RulesSource): Promise<readonly Rule[]> =>
  parsedRules(bytes, shownRules(directory)).catch(refusedAs([]));

/** Returns the readable values of the file that the last rules want encrypted, and the present ones do not. */
async function newlyReadable(
  last: RulesSource,
  rulebook: Rulebook,
  { path, file }: RuledPath,
): Promise<readonly string[]> {
  const inside = relative(last.directory, resolve(path)).split(sep).join('/');
  const before = ruleFor(await rulesIn(last), inside);
  const now = await rulebook.ruleFor(path);
  if (before === undefined || file === undefined) return [];
  const plain = file.places.filter((place) => place.sealed === undefined && isSecret(place, before));
  return plain
    .filter((place) => now === undefined || !isSecret(place, now))
    .map(({ name }) => `${name} of ${path} is readable`);
}

/**
 * Asks.
 * @param change commit and author of the change
 */
async function requireConsent(session: Session, losses: readonly string[], change: string): Promise<void> {
  const what = `${RULES_NAME} may encrypt less than when it was last used here: ${few(losses)}${change}`;
  const hint = `review the changes to ${RULES_NAME}; if they are right, use --yes`;
  if (!session.settings.yes && !session.prompts.available()) throw conflict(what, { hint });
  const isRight = await session.confirmed(async () => `${what}. Is this right?`);
  if (!isRight) throw conflict(`the changes to ${RULES_NAME} were not confirmed`, { hint });
}
