import { invalid, notFound } from '../../ground/errors.ts';
import { meantText, nearest } from '../../ground/nearness.ts';
import { type CardFact, isCard } from '../../team/fact.ts';
import { keyNames } from '../../team/judge/judge.ts';
import { short, spelled } from '../../team/names.ts';
import { argument, type Command, taking } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { printDocument } from '../files/output.ts';
import { textOption } from '../given.ts';
import { rewrapAll, valuesOf } from '../secret-files/keyring-files.ts';
import type { Session } from '../session.ts';
import { newEpoch, requireStayingAdmin, settleKeys } from '../team/acts.ts';
import { Changes, requireSigningCard } from '../team/changes.ts';
import type { TeamKeyring } from '../team/keyring.ts';
import { otherKeyringsOf } from '../team/other-keyrings.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { identityOption, openKeyringHere } from './team.ts';

/* Command that removes members of a keyring. */

const CARD = 'card';

/** Whom a command removes. */
interface Leaving {
  readonly name: string;
  /** Beginning of the ID of the only card to remove. */
  readonly card: string | undefined;
  /** Cards to remove; none if an earlier run has removed them. */
  readonly cards: readonly CardFact[];
  /** Name, or the key of the member. */
  readonly removed: string;
}

/** Values of a file that the removed member could read, for users. */
interface Listed {
  readonly file: string;
  readonly names: readonly string[];
}

export const remove: Command = {
  arguments: [argument('NAME', 'Name of the member, e.g. bob.', { offers: 'member' })],
  options: [
    taking(
      CARD,
      'ID',
      'Remove only one key of the member: the key with this ID in the column "Card" of "coffer team". Without another key, the member is removed.',
    ),
    identityOption,
  ],
  details:
    'The removed member cannot decrypt anything encrypted from then on: the keyring gets a new root ' +
    'key and a new version of every key, and all values of the keyring are re-encrypted, also in files that no rule ' +
    'of .coffer.yaml matches or that git ignores. ' +
    'The member may have kept a copy of every earlier value: the command lists the values to change ' +
    'at their source, e.g. in the database. If the command is interrupted, run it again to continue.',
  examples: [
    ['coffer team remove bob', 'Remove a member'],
    [
      'coffer team remove bob --card 22sx08km',
      'Remove one key of the member bob, but not the other keys of bob',
    ],
  ],
  async run(session, { arguments: [name = ''], options }) {
    const keyring = await openKeyringHere(session, options, { isChange: true, removing: name });
    const card = textOption(options, CARD)?.replaceAll('-', '');
    const cards = cardsToRemove(keyring, name, card);
    const leaving = { name, card, cards, removed: card === undefined ? name : `the key ${card} of ${name}` };
    // Changes that will be refused are refused before the user is asked.
    await requireSigningCard(session, keyring);
    requireStayingAdmin(keyring, cards);
    session.requireConsent();
    sayGuests(session, keyring, cards);
    sayOthersWithKey(session, keyring, leaving);
    const question = async () => `Remove ${leaving.removed} and re-encrypt everything?`;
    if (cards.length > 0 && !(await session.confirmed(question))) return FAILED;
    const changes = await Changes.begin(session, keyring);
    if (cards.some(({ id }) => id === changes.own.id)) await removeOneself(changes, keyring, leaving);
    else await removeOther(changes, keyring, leaving);
    for (const folder of card === undefined ? otherKeyringsOf(session.environment, keyring.place, name) : [])
      session.warn(
        `${name} is also a member of the keyring of ${folder}: cd ${shellWord(folder)} && coffer team remove ${name}`,
      );
    return DONE;
  },
};

async function removeOther(
  changes: Changes,
  { place, state }: TeamKeyring,
  { name, card, cards, removed }: Leaving,
): Promise<void> {
  const { session } = changes;
  const before = changes.newestId;
  const caught = card === undefined ? state.caught.filter((fact) => fact.card.name === name) : [];
  if (cards.length > 0) await newEpoch(changes, [...cards, ...caught]);
  await settleKeys(changes);
  // There may be new values since an earlier run, which need confirmation.
  const isRepeated = cards.length === 0 && !session.settings.yes;
  const files = await rewrapAll(
    session,
    { place, keys: new Set(keyNames(changes.state)) },
    isRepeated ? 'ask' : changes.trustedBeforeRemovalOf(name),
  );
  const listed = files.map(({ path, names }) => ({ file: path, names }));
  await printDocument(session, { name, id: changes.newestId, to_change: listed });
  const isUnchanged = changes.newestId === before && files.every(({ changed }) => changed === 0);
  if (cards.length === 0 && isUnchanged) session.say(`No changes made: ${removed} was already removed.`);
  else if (cards.length === 0) session.say(`Finished removing ${removed}: an earlier run was interrupted.`);
  else session.say(`Removed ${removed}. All keys have a new version: ${keyNames(changes.state).join(', ')}.`);
  sayWhatFollows(changes, removed, listed);
  changes.sayToCommit(files.filter(({ isIgnored }) => !isIgnored).map(({ path }) => path));
}

/** Removes the card that signs: what it signs after its own removal has no effect, so another admin must go on. */
async function removeOneself(changes: Changes, { place }: TeamKeyring, leaving: Leaving): Promise<void> {
  const { session } = changes;
  const { name, card, cards, removed } = leaving;
  const values = await valuesOf(session, { place, keys: new Set(keyNames(changes.state)) });
  await newEpoch(changes, cards);
  const listed = values.map((file) => ({ file: file.path, names: file.values.map((value) => value.name) }));
  await printDocument(session, { name, id: changes.newestId, to_change: listed });
  session.say(
    `You removed yourself (${removed}). Nothing is re-encrypted yet: another admin must first create new versions of the keys.`,
  );
  sayWhatFollows(changes, removed, listed);
  changes.sayToCommit();
  session.sayCommand(
    'When that is pushed, another admin must run this, which also re-encrypts all values:',
    `git pull && coffer team remove ${name}${card === undefined ? '' : ` --card ${card}`} --yes`,
  );
}

/** Says what to do after a removal, besides committing it. */
function sayWhatFollows(changes: Changes, removed: string, listed: readonly Listed[]): void {
  const { session } = changes;
  if (listed.length > 0) session.say(`${removed} could read these values. Change them at their source:`);
  for (const { file, names } of listed) session.say(`  ${file}: ${names.join(', ')}`);
  session.sayCommand(
    'Pipelines: in the variable COFFER_IDENTITY, replace the line that begins with "# at least:" by this one, or add this one above the private key. The pipeline then refuses older states of the keyring:',
    `# at least: ${spelled(changes.newestId)}`,
  );
}

/** Warns of other cards with the same key, which still opens everything. */
function sayOthersWithKey(session: Session, { state }: TeamKeyring, { name, card, cards }: Leaving): void {
  const isNamed = (fact: CardFact): boolean =>
    fact.card.name === name && (card === undefined || fact.id.startsWith(card));
  const out = [...state.good.values()].filter(isCard).filter((fact) => cards.includes(fact) || isNamed(fact));
  const gone = new Set(out.map(({ id }) => id));
  const keys = new Set(out.flatMap((fact) => fact.card.keys));
  const others = state.cards.filter(
    ({ id, card }) => !gone.has(id) && card.keys.some((key) => keys.has(key)),
  );
  for (const { id, card: other } of others)
    session.warn(
      other.name === name
        ? `${name} has the same key on another card, and can still decrypt everything with it: coffer team remove ${name} --card ${short(id)}`
        : `${other.name} has the same key as ${name}, and can still decrypt everything with it: coffer team remove ${other.name}`,
    );
}

/**
 * Returns the cards to remove; none if an earlier, interrupted run already removed them.
 * @throws `not-found` if there is no such card
 */
function cardsToRemove({ state }: TeamKeyring, name: string, card: string | undefined): readonly CardFact[] {
  const all = state.cards.filter(
    (fact) => fact.card.name === name && (card === undefined || fact.id.startsWith(card)),
  );
  if (card !== undefined && all.length > 1)
    throw invalid(`the IDs of ${all.length} keys of ${name} begin with ${card}`, {
      field: CARD,
      hint: 'use more characters of the ID, as "coffer team" lists it',
    });
  const isOut = state.removals.some(({ without }) =>
    without.some((out) => out.name === name && (card === undefined || out.id.startsWith(card))),
  );
  if (all.length > 0 || isOut) return all;
  if (state.cards.some((fact) => fact.card.name === name))
    throw notFound(`no key of ${name} has an ID that begins with "${card}"`, {
      field: CARD,
      hint: 'run "coffer team" to list the IDs',
    });
  const near = nearest(name, [...new Set(state.cards.map((fact) => fact.card.name))]);
  const hint = near.length > 0 ? meantText(near) : 'run "coffer team" to list the members';
  throw notFound(`no member "${name}" in this keyring`, { hint });
}

/** Warns about members who were added by the removed one, besides the user, who is known to be right. */
function sayGuests(session: Session, { state, ownCards }: TeamKeyring, cards: readonly CardFact[]): void {
  const out = new Set(cards.map(({ id }) => id));
  const known = new Set([...cards, ...ownCards].map(({ id }) => id));
  const guests = state.cards
    .filter(({ id, by }) => out.has(by) && !known.has(id))
    .map(({ card }) => card.name);
  const [name] = guests;
  if (name !== undefined)
    session.warn(
      `members added by the removed member stay: ${guests.join(', ')} (remove each that should not, with e.g. "coffer team remove ${name}")`,
    );
}
