import { conflict, denied } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';
import { type CardFact, type Fact, isCard, takesOut } from '../../team/fact.ts';
import { type Loaded, loadFacts } from '../../team/files.ts';
import { type Judgement, judge, nameOf, pastOf } from '../../team/judge/judge.ts';
import { short, spelled } from '../../team/names.ts';
import { cardsFor } from '../../team/own-key.ts';
import { Roots } from '../../team/roots.ts';
import { signatureCheck, verifiedMark } from '../../team/signing.ts';
import { pipelineHint } from '../secrets/identity-places.ts';
import type { Session } from '../session.ts';
import {
  type JudgedFacts,
  keepJudgement,
  keptJudgement,
  type Remembered,
  stampOf,
  TeamMemory,
} from './memory.ts';
import { ignoredFiles, sayOddities, tell, warnOf } from './oddities.ts';
import { type KeyringIdentities, keyringIdentities, ownCards, removedHint, untold } from './own-keys.ts';
import type { KeyringPlace } from './place.ts';
import { ASK, untrusted } from './untrusted.ts';
import { alterationsOf, witnessOf } from './witness.ts';

/** Keyring as seen by this person on this machine. */

/** Purpose of opening a keyring. */
interface KeyringOpening {
  readonly place: KeyringPlace;
  /** Whether facts or values will be added, which requires a state without doubts. */
  readonly isChange?: boolean;
  /** What is reported: by default everything; of what has no effect, only what is new on this machine; or only errors. */
  readonly reported?: 'news' | 'errors';
  /** ID that the user confirms. */
  readonly trusting?: string;
  /** Name of the member to be removed, whose incomplete facts are ignored. */
  readonly removing?: string;
  /** Facts from other sources than the working tree. */
  readonly loaded?: Loaded | undefined;
  /** Whether to read every file again, even if a judgment of them is cached. */
  readonly isChecked?: boolean;
  /** File of `--identity`. */
  readonly identity?: string | undefined;
}

export interface TeamKeyring {
  readonly place: KeyringPlace;
  readonly state: Judgement;
  readonly roots: Roots;
  /** Root keys that this command has opened, which `roots` adds to. */
  readonly opened: Map<string, Buffer>;
  readonly memory: TeamMemory;
  readonly remembered: Remembered;
  readonly identities: KeyringIdentities;
  /** Cards of this person, first those that can sign. */
  readonly ownCards: readonly CardFact[];
  /** First of the user's own cards. */
  readonly card: CardFact | undefined;
}

/** Root keys that a command has opened, by keyring, so that the user is not asked twice if it opens a keyring again. */
const openedBy = new WeakMap<Session, Map<string, Map<string, Buffer>>>();

const openedRoots = (session: Session, store: string): Map<string, Buffer> =>
  madeOnce(
    madeOnce(openedBy, session, () => new Map()),
    store,
    () => new Map(),
  );

/**
 * Reads and judges a keyring, and checks that it is the expected one.
 * @throws `denied` for one that no user here has confirmed; `conflict` if something is missing, doubtful or in the way
 */
export async function openKeyring(session: Session, opening: KeyringOpening): Promise<TeamKeyring> {
  const { place, trusting } = opening;
  const identities = await keyringIdentities(session, opening.identity);
  // A pipeline has a pinned identity, and stores nothing.
  const isPinned = identities.atLeast !== undefined && trusting === undefined;
  const memory = new TeamMemory(isPinned ? { COFFER_STATE: 'none' } : session.environment);
  const known = memory.keyringAt(place.mark);
  const kept = keptFor(opening, memory, known);
  const loaded = kept.judged?.loaded ?? opening.loaded ?? loadedFrom(place, known);
  const pin = trusting ?? identities.atLeast;
  const missing = opening.identity === undefined ? pipelineHint(session.environment) : undefined;
  const isTrusting = trusting !== undefined;
  const store = await storeOf(session, loaded, { known, pin, isTrusting, memory, missing });
  let remembered = memory.of(store);
  const verified = memory.verified(store);
  const check = signatureCheck(verified);
  const judged = (seen: readonly string[]): Judgement => judge(loaded.facts, store, check, seen);
  let state = kept.judged?.state ?? judged(remembered.seen);
  if (kept.judged === undefined && kept.stamp !== undefined && state.store === known)
    keepJudgement(memory, kept.stamp, { loaded, state });
  const isFirst = known === undefined || trusting !== undefined;
  if (pin !== undefined) {
    const past = requirePast(state, pin);
    if (isFirst) {
      const isBefore = ({ id }: Fact): boolean => id === pin || past.has(id);
      const first = state.line.filter((fact) => takesOut(fact) && isBefore(fact));
      const firstIds = first.map(({ id }) => id);
      const before = state;
      const seen = [...firstIds, ...remembered.seen.filter((id) => !firstIds.includes(id))];
      state = judged(seen);
      await requireConsentToTakeBack(session, before, state, remembered);
      if (trusting !== undefined) refuseOlder(session, place, known === undefined);
      // Where every admin was removed by another one, several IDs are needed: each is stored.
      const isSide = trusting !== undefined && before.quarrels.some(({ id }) => id === pin);
      if (!isSide) refuseQuarrels(state, USE_ONE);
      const absent = state.unseen;
      memory.forgetSeen(store, absent);
      memory.noteSeen(store, first, true);
      const cards = [...state.good.values()].filter((fact) => isCard(fact) && isBefore(fact));
      memory.noteCards(
        store,
        cards.map(({ id }) => id),
      );
      refuseQuarrels(
        state,
        'run "coffer team trust ID" once more, with the ID of a listed removal that is right',
      );
      const noted = memory.of(store);
      state = { ...state, unseen: [] };
      remembered = {
        ...noted,
        seen: seen.filter((id) => !absent.includes(id)),
        cards: isPinned ? new Set([pin, ...past]) : noted.cards,
      };
    }
  }
  if (known !== store) memory.setKeyringAt(place.mark, store);
  if (opening.reported !== 'errors') {
    const isNew = ({ id }: Fact): boolean => !remembered.told.has(id);
    const isAgain = openedBy.get(session)?.has(store) === true;
    const told = sayOddities(session, state, opening.reported === 'news' || isAgain ? isNew : () => true);
    memory.noteTold(store, told.filter(isNew));
  }
  refuseDoubts(session, state, opening, { ...loaded, names: remembered.names });
  // Facts loaded from all commits are not the working tree: nothing is learned from a branch that was never merged.
  if (opening.loaded === undefined)
    remembered = learn(state, memory, remembered, (line) => {
      if (!isFirst && opening.reported !== 'errors') session.say(line);
    });
  // A kept judgement was made of verified facts only.
  const marks = kept.judged === undefined ? [...state.good.values()].map(verifiedMark) : [];
  if (marks.some((mark) => !verified.has(mark))) memory.noteVerified(store, marks);
  const opened = openedRoots(session, store);
  const roots = new Roots(state, identities.keys, opened);
  session.atEnd(() => roots.close());
  const own = ownCards(identities.keys, state.cards);
  return { place, state, roots, opened, memory, remembered, identities, ownCards: own, card: own[0] };
}

/**
 * Returns the cached judgment for reading, and what one of the present files would be kept by. Commands that change,
 * confirm or check a keyring judge its files again.
 */
function keptFor(
  { place, isChange, isChecked, trusting, loaded }: KeyringOpening,
  memory: TeamMemory,
  known: string | undefined,
): { readonly judged?: JudgedFacts | undefined; readonly stamp?: ReturnType<typeof stampOf> } {
  const isOnlyRead =
    isChange !== true && isChecked !== true && trusting === undefined && loaded === undefined;
  if (known === undefined || !memory.isKept || !isOnlyRead) return {};
  const stamp = stampOf(place.directory, memory.of(known).seen);
  return stamp === undefined ? {} : { stamp, judged: keptJudgement(memory, known, stamp) };
}

function loadedFrom(place: KeyringPlace, known: string | undefined): Loaded {
  try {
    return loadFacts(place.directory);
  } catch (error) {
    if (known === undefined) throw error;
    throw conflict(`the keyring ${place.directory} of this clone no longer exists`, {
      hint: `restore it with git; its ID was ${spelled(known)}`,
    });
  }
}

const CHECK_ID = 'run "git pull", or check the ID with a colleague';

/**
 * Returns the ID of the expected keyring: the one that this clone has, or the one that matches the pin. No ID is
 * printed here, since an attacker who can push could have chosen it.
 */
async function storeOf(
  session: Session,
  { facts }: Loaded,
  how: {
    readonly known: string | undefined;
    readonly pin: string | undefined;
    readonly isTrusting: boolean;
    readonly memory: TeamMemory;
    /** What a pipeline lacks. */
    readonly missing: string | undefined;
  },
): Promise<string> {
  const { known, pin, isTrusting } = how;
  const pinned = pin === undefined ? undefined : facts.get(pin)?.store;
  if (pin !== undefined && pinned === undefined) {
    throw isTrusting
      ? denied(`no keyring with the ID ${short(pin)}… in this clone`, {
          hint: 'check the ID with a colleague; if it is right, run "git pull" and try again',
        })
      : denied(
          `this clone has another keyring than you trusted, or an older state of it: the change ${short(pin)}… is missing`,
          { hint: CHECK_ID },
        );
  }
  if (known !== undefined && pinned !== undefined && known !== pinned) {
    if (isTrusting && !session.settings.yes && !session.prompts.available()) {
      throw denied('this clone had another keyring before', {
        hint: 'use --yes to trust the keyring with this ID from now on',
      });
    }
    const isMeant =
      isTrusting &&
      (await session.confirmed(
        async () => 'This clone had another keyring before. Trust the keyring with this ID from now on?',
      ));
    if (!isMeant) throw denied('the keyring of this clone was replaced by another one', { hint: ASK });
    return pinned;
  }
  const wanted = known ?? pinned;
  if (wanted === undefined) throw untrusted(facts, how);
  if (facts.get(wanted)?.kind === 'store') return wanted;
  throw denied('the keyring of this clone was replaced by another one', { hint: ASK });
}

/**
 * Checks a pinned fact.
 * @throws `denied` if it is not trusted, or if facts before it are missing
 */
function requirePast(state: Judgement, pin: string): ReadonlySet<string> {
  const fact = state.facts.get(pin);
  if (!state.good.has(pin)) {
    throw denied(
      `the change ${short(pin)}… ${state.refused.get(fact?.path ?? '') ?? 'is not in this clone'}`,
      { hint: CHECK_ID },
    );
  }
  const past = pastOf(state.good, pin);
  const isWhole = [pin, ...past].every((id) =>
    state.good.get(id)?.after.every((before) => state.good.has(before)),
  );
  if (isWhole) return past;
  throw denied(`this clone has the change ${short(pin)}…, but earlier changes are missing`, {
    hint: 'run "git pull", then retry',
  });
}

async function requireConsentToTakeBack(
  session: Session,
  before: Judgement,
  after: Judgement,
  { seen, names }: Remembered,
): Promise<void> {
  const undone = before.removals.filter(({ id }) => seen.includes(id) && !after.valid.has(id));
  const absent = after.unseen.map(
    (id) => `${names.get(id) ?? short(id)} was removed (in a change that this checkout does not have)`,
  );
  if (undone.length === 0 && absent.length === 0) return;
  const what = [...undone.map((fact) => tell(after, fact)), ...absent].join('; ');
  if (!session.settings.yes && !session.prompts.available()) {
    throw denied(`to trust this ID, this machine would have to forget changes: ${what}`, {
      hint: 'run "git pull" first; if the removal was undone on purpose, use --yes',
    });
  }
  if (!(await session.confirmed(async () => `Trust this ID? This machine then forgets: ${what}.`)))
    throw denied('not confirmed: nothing was changed');
}

/**
 * Refuses to trust, on first use, a state from which a removal was deleted, since that would readmit a removed person.
 */
function refuseOlder(session: Session, place: KeyringPlace, isFirst: boolean): void {
  const { isShallow, losses } = witnessOf(place);
  for (const { text } of losses) session.warn(text);
  if (isShallow)
    session.say(
      'This clone does not have the whole git history, so a change that was removed from the keyring cannot be noticed.',
    );
  const removals = losses.filter(({ path }) => path.startsWith('removals/'));
  if (!isFirst || removals.length === 0 || session.settings.yes) return;
  throw denied(`this clone may be from before a removal: ${removals.map(({ text }) => text).join('; ')}`, {
    hint: 'ask a colleague whether this was done on purpose; if so, use --yes',
  });
}

const USE_ONE = 'ask in person which admin stays, and use the ID of the removal that this admin made';
const FIND_OUT =
  'ask in person which admin stays, then run "coffer team trust ID" with the ID of the removal that this admin made';

function refuseQuarrels(state: Judgement, hint: string): void {
  if (state.quarrels.length === 0) return;
  const told = state.quarrels.map((fact) => `${tell(state, fact)} (${spelled(fact.id)})`).join('; ');
  throw conflict(`admins removed each other: ${told}`, { hint });
}

function refuseDoubts(
  session: Session,
  state: Judgement,
  { isChange = false, removing, place }: KeyringOpening,
  { strangers, blockers, names }: Loaded & Pick<Remembered, 'names'>,
): void {
  refuseQuarrels(state, FIND_OUT);
  const isTheirs = (fact: Fact): boolean => removing !== undefined && nameOf(state, fact.by) === removing;
  const isExcused = state.holes.every(({ fact }) => isTheirs(fact));
  const told = state.holes.map(
    ({ id, fact }) =>
      `.coffer/${fact.path} by ${nameOf(state, fact.by)} refers to ${short(id)}…, which is missing`,
  );
  const incomplete = () =>
    conflict(`the keyring is incomplete: ${told.join('; ')}`, {
      hint: 'run "coffer team settle" to restore it from git; if that fails, first fetch the branch that has it',
    });
  if (state.holes.some(({ isGrave }) => isGrave) && !isExcused) throw incomplete();
  if (state.holes.length > 0) {
    if (isChange && !isExcused) throw incomplete();
    session.warn(`the keyring is incomplete: ${told.join('; ')}`);
  }
  if (state.unseen.length > 0) {
    const who = state.unseen.map((id) => names.get(id) ?? short(id)).join(', ');
    const text = `this checkout does not have the removal of ${who} yet`;
    if (isChange)
      throw conflict(text, {
        hint: `merge the removal first, so that removed members cannot decrypt new values; if it was discarded for good, run "coffer team trust ${spelled(state.store)}" to forget it`,
      });
    session.warn(text);
  }
  if (!isChange) return;
  warnOf(session, ignoredFiles(strangers));
  const [newer] = state.newer.filter((fact) => !isTheirs(fact));
  if (newer !== undefined) {
    throw conflict(`.coffer/${newer.path} is ${newer.newer}: it was written by a newer Coffer`, {
      hint: 'install a newer Coffer; this one can only read the keyring',
    });
  }
  const [odd] = [...blockers.map((text) => `.coffer/${text}`), ...alterationsOf(place)];
  if (odd !== undefined) throw conflict(odd, { hint: 'fix this first; nothing was changed' });
}

/**
 * Stores removals from a working tree that contains everything known, with nothing missing: an old branch teaches
 * nothing.
 */
function learn(state: Judgement, memory: TeamMemory, remembered: Remembered, say: (line: string) => void) {
  if (state.unseen.length > 0 || state.holes.length > 0) return remembered;
  const fresh = state.line.filter(
    (fact) => takesOut(fact) && state.valid.has(fact.id) && !remembered.seen.includes(fact.id),
  );
  if (fresh.length === 0) return remembered;
  memory.noteSeen(state.store, fresh);
  for (const fact of fresh) say(`New: ${tell(state, fact)}.`);
  return { ...remembered, seen: [...remembered.seen, ...fresh.map(({ id }) => id)] };
}

/**
 * Returns the card of this person.
 * @throws `denied` if there is none that can sign
 */
export function requireAdmin({ card, identities, state }: TeamKeyring): CardFact {
  if (card === undefined) {
    const doubtful = identities.keys.find((key) => cardsFor(key, state.cards).length > 0);
    if (doubtful !== undefined) untold(doubtful);
    throw denied('none of your keys belongs to a member of this keyring', {
      hint:
        identities.keys.length === 0
          ? 'set COFFER_IDENTITY_FILE to a private key'
          : (removedHint(state, identities.keys) ?? 'ask an admin to run "coffer team add NAME KEY"'),
    });
  }
  if (card.card.sign !== undefined) return card;
  const admins = new Set(state.cards.filter(isAdmin).map((other) => other.card.name));
  throw denied(`only admins can change the team and its keys; ${card.card.name} is a user`, {
    hint: `ask an admin: ${[...admins].sort().join(', ')}`,
  });
}

/** Whether a card is that of an admin. */
export const isAdmin = ({ card }: CardFact): boolean => card.sign !== undefined;
