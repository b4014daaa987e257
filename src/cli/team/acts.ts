import { type CofferError, conflict, denied } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import { type Card, type CardFact, type Fact, KEY_TYPE } from '../../team/fact.ts';
import {
  bestVersion,
  givenTo,
  headsOf,
  keyNames,
  nameOf,
  nextNumber,
  pastOf,
} from '../../team/judge/judge.ts';
import { checkOf, sealMaterial, sealOlder } from '../../team/roots.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { type Changes, freshRoot, MOST_HEADS } from './changes.ts';
import { isAdmin } from './keyring.ts';
import { usableEpochs, usableRoot } from './own-keys.ts';

/**
 * Actions that change a keyring. Each step adds one fact, and is derived from the existing ones: after an interruption,
 * running it again continues.
 */

/** Card of a member to be. */
type Receiver = { readonly id: string; readonly card: Pick<Card, 'name' | 'keys'> };

const line = ({ id, card }: Receiver): string => `${id} ${card.name}`;

const incompleteRemoval = () =>
  conflict('a removal is not complete: removed members still have the key that encrypts all keys', {
    hint: 'run "coffer team settle"',
  });

/** Gives the root key of an epoch to a member. */
async function addSlot(changes: Changes, epoch: Fact, to: Receiver): Promise<void> {
  const armor = await changes.sealer.armorFor(to.card.keys, await usableRoot(changes, epoch.id));
  await changes.add('slot', { for: line(to), root: epoch.id }, armor);
}

/** Adds a member. */
export async function grant(changes: Changes, card: Omit<Card, 'secret'>): Promise<Fact> {
  const [first, ...others] = await usableEpochs(changes);
  if (first === undefined) throw incompleteRemoval();
  const root = await usableRoot(changes, first.id);
  const { name, role, keys, sign } = card;
  const fields = { name, role, key: keys, sign, root: first.id };
  const fact = await changes.add('member', fields, await changes.sealer.armorFor(keys, root));
  for (const epoch of others) await addSlot(changes, epoch, { id: fact.id, card });
  changes.refresh();
  return fact;
}

/**
 * Returns the cards that receive a root key: those that this person vouches for and that can be encrypted to. Unknown
 * ones are asked about, one by one; the others wait.
 * @param leaving cards that a removal removes: whom they added is asked about on a terminal
 * @param isConfirmed whether `--yes` confirms unknown cards; it does not where it confirms something else
 */
async function sure(
  changes: Changes,
  cards: readonly CardFact[],
  leaving: readonly CardFact[],
  isConfirmed: boolean,
): Promise<readonly CardFact[]> {
  const { session } = changes;
  const isAsking = session.prompts.available() && !session.settings.yes;
  const guestOf = ({ by }: CardFact): string | undefined =>
    isAsking ? leaving.find(({ id }) => id === by)?.card.name : undefined;
  const found: CardFact[] = [];
  for (const card of cards) {
    const { name, keys } = card.card;
    if (changes.declined.has(card.id)) continue;
    const host = guestOf(card);
    const why = doubtOf(changes, card) ?? (host && `was added by ${host}, a member you are removing`);
    if (why !== undefined) {
      if (!(isConfirmed && session.settings.yes) && !(await asked(changes, card, why))) {
        changes.declined.add(card.id);
        session.warn(
          `${name} ${why}, and does not get the team's keys (${name} has ${shown(keys)}; if you know ${name}, run "coffer team settle --yes")`,
        );
        continue;
      }
      changes.answerFor(card);
    }
    // Only after the user vouched for the card, because this may run a plugin that the card names.
    const hindrance = await changes.sealer.whyNot(keys);
    if (hindrance === undefined) found.push(card);
    else {
      changes.declined.add(card.id);
      session.warn(
        `${name} does not get the team's keys yet: cannot encrypt to ${shown(keys)} (${hindrance})`,
      );
    }
  }
  return found;
}

/** Keys, as somebody compares them: whole, unless one is much longer than an SSH or age key usually is. */
const shown = (keys: readonly string[]): string =>
  keys.map((key) => (key.length > 80 ? `${key.slice(0, 60)}…${key.slice(-16)}` : key)).join(', ');

function doubtOf(changes: Changes, card: CardFact): string | undefined {
  if (card.id === changes.own.id || changes.isOwn(card)) return undefined;
  const { state } = changes;
  if (!changes.isKnown(card))
    return `is new to this machine (added by ${nameOf(state, card.by)} at ${card.at})`;
  const isNamed = state.undone.some(({ without }) => without.some(({ id }) => id === card.id));
  return isNamed ? 'was named in a removal that is not in effect' : undefined;
}

async function asked({ session }: Changes, { card }: CardFact, why: string): Promise<boolean> {
  // `--yes` confirms the command, not that a card is trusted.
  if (!session.prompts.available() || session.settings.yes) return false;
  return session.prompts.confirm(
    `${card.name} (${shown(card.keys)}) ${why}. Give ${card.name} the team's keys?`,
  );
}

/** Returns the error about a team without an admin, with the command that makes one of those who stay an admin. */
function adminStays(staying: readonly CardFact[]): CofferError {
  const isForSigning = (key: string): boolean => key.startsWith('ssh-ed25519 ');
  const [next] = staying.filter(({ card }) => card.keys.some(isForSigning));
  const name = next === undefined ? 'NAME' : shellWord(next.card.name);
  const key = next === undefined ? 'NAME.pub' : shellWord(next.card.keys.find(isForSigning) ?? '');
  return conflict('at least one admin must stay', {
    hint: `make another member an admin first: coffer team add ${name} ${key} --admin`,
  });
}

/**
 * Checks that a removal leaves an admin.
 * @throws `conflict` if it does not
 */
export function requireStayingAdmin({ state }: Pick<Changes, 'state'>, leaving: readonly CardFact[]): void {
  const staying = state.cards.filter((card) => !leaving.includes(card));
  if (leaving.length === 0 || staying.some(isAdmin)) return;
  throw adminStays(staying);
}

/**
 * Creates a root key for all members except those who are removed. Without a removal, it replaces the two root keys of
 * concurrent removals.
 * @param isConfirmed whether `--yes` confirms unknown cards
 */
export async function newEpoch(
  changes: Changes,
  leaving: readonly CardFact[],
  isConfirmed = false,
): Promise<Fact> {
  const { state, roots } = changes;
  const out = new Set(leaving.map(({ id }) => id));
  const staying = state.cards.filter(({ id }) => !out.has(id));
  const stay = await sure(changes, staying, leaving, isConfirmed);
  if (!stay.some(isAdmin)) throw adminStays(stay);
  const older = await roots.openToPassOn();
  if (!state.newest.some((id) => older.has(id))) {
    throw denied('none of your keys opens this keyring as it is now', {
      hint: 'ask another admin to run "coffer team settle", then run "git pull" and retry',
    });
  }
  const root = freshRoot();
  const fields = {
    without: leaving.map(line),
    for: stay.map(line),
    check: checkOf(root),
    older: sealOlder(root, state.store, older, systemRandom),
  };
  const armor = await changes.sealer.armorFor(
    stay.flatMap(({ card }) => card.keys),
    root,
  );
  const fact = await changes.add('removal', fields, armor, headsWithout(changes, leaving));
  changes.refresh();
  changes.roots.learn(fact.id, root);
  return fact;
}

/**
 * Returns the heads without facts of leaving persons that are incomplete, of a newer format, or too many to be named,
 * which therefore no longer count; undefined if there are none.
 */
function headsWithout({ state }: Changes, leaving: readonly CardFact[]): readonly string[] | undefined {
  const names = new Set(leaving.map(({ card }) => card.name));
  if (headsOf(state).length > MOST_HEADS) return headsOf(state, ({ by }) => !names.has(nameOf(state, by)));
  const bad = new Set(
    [...state.holes.map(({ fact }) => fact), ...state.newer]
      .filter(({ by }) => names.has(nameOf(state, by)))
      .map(({ id }) => id),
  );
  if (bad.size === 0) return undefined;
  return headsOf(
    state,
    ({ id }) => !bad.has(id) && ![...pastOf(state.good, id)].some((before) => bad.has(before)),
  );
}

/** Creates the next version of a key, under a root key that only the team has. */
export async function newVersion(changes: Changes, key: string): Promise<Fact> {
  const { state } = changes;
  const [epoch] = await usableEpochs(changes);
  const under = epoch?.id ?? state.believed[0]?.id;
  if (under === undefined) throw incompleteRemoval();
  const root = await usableRoot(changes, under);
  const head = { key, number: nextNumber(state, key), type: KEY_TYPE, under };
  const material = sealMaterial(root, state.store, head, systemRandom);
  return changes.add('version', { key, version: head.number, type: head.type, under, material });
}

/**
 * Completes the work left by a merge or by an interrupted removal: a root key that only the team has, slots for members
 * who wait for a root key, and a version of each key.
 * @param anew name of a member who gets another slot even if there is one, in case its ciphertext is not for that
 * member
 * @param isConfirmed whether `--yes` confirms unknown cards
 */
export async function settleKeys(changes: Changes, anew?: string, isConfirmed = false): Promise<void> {
  if (changes.state.believed.length === 0) await newEpoch(changes, [], isConfirmed);
  const waits = (epoch: Fact, card: CardFact): boolean =>
    !givenTo(changes.state, epoch.id).has(card.id) || card.card.name === anew;
  const waiting = changes.state.cards.filter((card) =>
    changes.state.believed.some((epoch) => waits(epoch, card)),
  );
  const sureOnes = await sure(changes, waiting, [], isConfirmed);
  const fit = new Set(sureOnes.map(({ id }) => id));
  for (const epoch of changes.state.believed) {
    for (const card of changes.state.cards.filter(({ id }) => fit.has(id))) {
      if (!waits(epoch, card)) continue;
      if ((await changes.roots.open(epoch.id)) === undefined) {
        changes.session.warn(
          `${card.card.name} cannot get the key in .coffer/${epoch.path} from you: none of your keys opens it`,
        );
        continue;
      }
      await addSlot(changes, epoch, card);
    }
  }
  changes.refresh();
  for (const key of keyNames(changes.state))
    if (bestVersion(changes.state, key) === undefined) await newVersion(changes, key);
  changes.refresh();
}
