import { relative } from 'node:path';
import { systemClock } from '../../ground/clock.ts';
import { type CofferError, conflict } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import { ArmorSealer } from '../../team/armor.ts';
import { type CardFact, type Fact, type FactKind, isCard, printMessage, takesOut } from '../../team/fact.ts';
import { writeFact } from '../../team/files.ts';
import { headsOf, type Judgement, judge, nameOf, pastOf } from '../../team/judge/judge.ts';
import { Roots } from '../../team/roots.ts';
import { signatureCheck, verifiedMark } from '../../team/signing.ts';
import { pluginHost } from '../secrets/plugins.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { TeamKeyring } from './keyring.ts';
import { findSigner, type Signer } from './signer.ts';

/** Returns the current time in the format of facts. */
export const timeNow = (): string => `${new Date(systemClock.now()).toISOString().slice(0, 19)}Z`;

type FactFields = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/**
 * Adds facts to a keyring, each after all that are valid. The state between the steps is the judgement of exactly what
 * was written.
 */
export class Changes {
  readonly session: Session;
  /** Encrypts root keys to cards. */
  readonly sealer: ArmorSealer;
  readonly #keyring: TeamKeyring;
  readonly #card: CardFact;
  readonly #signer: Signer;
  readonly #facts: Map<string, Fact>;
  readonly #seen: string[];
  readonly #trusted: Set<string>;
  /** Cards that this command does not give keys to, so that the user is not asked about them twice. */
  readonly declined = new Set<string>();
  #state: Judgement;
  #roots: Roots;
  #heads: readonly string[] | undefined;
  #last: string | undefined;

  private constructor(session: Session, keyring: TeamKeyring, card: CardFact, signer: Signer) {
    this.session = session;
    this.sealer = new ArmorSealer(systemRandom, pluginHost(session));
    this.#keyring = keyring;
    this.#card = card;
    this.#signer = signer;
    this.#facts = new Map(keyring.state.facts);
    this.#seen = [...keyring.remembered.seen];
    this.#trusted = new Set(keyring.remembered.cards);
    this.#state = keyring.state;
    this.#roots = keyring.roots;
  }

  /**
   * Starts changes.
   * @throws `denied` for a person who is not an admin, or does not have the signing key
   */
  static async begin(session: Session, keyring: TeamKeyring): Promise<Changes> {
    const { card, signer } = await findSigner(session, keyring);
    return new Changes(session, keyring, card, signer);
  }

  get state(): Judgement {
    return this.#state;
  }

  get roots(): Roots {
    return this.#roots;
  }

  get own(): CardFact {
    return this.#card;
  }

  /** ID of the fact added last, which follows all valid ones; otherwise the newest existing one. */
  get newestId(): string {
    return this.#last ?? headsOf(this.#state)[0] ?? this.#state.store;
  }

  /** Whether a user of this machine vouches for a card. */
  isKnown(card: CardFact): boolean {
    return card.id === this.#card.id || this.#trusted.has(card.id);
  }

  answerFor(card: CardFact): void {
    this.#trusted.add(card.id);
    this.#keyring.memory.noteCards(this.#state.store, [card.id]);
  }

  /**
   * Adds a fact.
   * @param fields in their order in the file
   * @param heads facts that it follows; by default all that are valid
   * @throws as the signer, before anything is written
   */
  async add(
    kind: Exclude<FactKind, 'store'>,
    fields: FactFields,
    armor = '',
    heads?: readonly string[],
  ): Promise<Fact> {
    const after = heads ?? this.#heads ?? headsOf(this.#state);
    if (after.length > MOST_HEADS) throw this.#tooMany(after);
    const common = {
      store: this.#state.store,
      after: after.join(' '),
      epoch: this.#state.newest.join(' '),
      by: `${this.#card.id} ${this.#card.card.name}`,
      at: timeNow(),
    };
    const message = printMessage(kind, Object.entries<FactFields[string]>({ ...common, ...fields }), armor);
    const fact = writeFact(this.#keyring.place.directory, message, await this.#signer(message));
    this.#facts.set(fact.id, fact);
    this.#heads = [fact.id];
    this.#last = fact.id;
    if (takesOut(fact)) {
      this.#seen.push(fact.id);
      this.#keyring.memory.noteSeen(this.#state.store, [fact]);
    }
    if (isCard(fact)) this.answerFor(fact);
    return fact;
  }

  /**
   * Prints the git command that must follow, because `git commit -a` does not include new files.
   * @param files changed files outside of the keyring, relative to the working directory
   */
  sayToCommit(files: readonly string[] = []): void {
    const { place } = this.#keyring;
    if (place.top === undefined) return;
    const paths = [relative('.', place.directory), ...files];
    this.session.say(`To commit it: git add ${paths.map(shellWord).join(' ')}`);
  }

  #tooMany(heads: readonly string[]): CofferError {
    const names = heads.map((id) => nameOf(this.#state, this.#state.good.get(id)?.by ?? ''));
    const most = [...Map.groupBy(names, String)].sort(([, a], [, b]) => b.length - a.length);
    const name = most[0]?.[0] ?? '';
    return conflict(`the keyring has ${heads.length} concurrent changes, most of them by ${name}`, {
      hint: `run "coffer team remove ${name}", or revert the commit that added them`,
    });
  }

  #judged(facts: ReadonlyMap<string, Fact>): Judgement {
    const verified = new Set(
      [...facts.values()].filter(({ id }) => this.#state.good.has(id)).map(verifiedMark),
    );
    return judge(facts, this.#state.store, signatureCheck(verified), this.#seen);
  }

  /**
   * Returns the IDs of the key versions that were trusted before the latest removal of a member: values under others
   * may be of members who were removed earlier.
   */
  trustedBeforeRemovalOf(name: string): ReadonlySet<string> {
    const { removals, good } = this.#state;
    const named = removals.filter(({ without }) => without.some((out) => out.name === name));
    const pasts = named.map(({ id }) => pastOf(good, id));
    const facts = new Map(this.#facts);
    for (const { id } of named) if (!pasts.some((past) => past.has(id))) facts.delete(id);
    const versions = [...this.#judged(facts).versions.values()].flat();
    return new Set(versions.filter(({ isBelieved }) => isBelieved).map(({ fact }) => fact.id));
  }

  /** Judges the keyring again, with the added facts. */
  refresh(): void {
    this.#state = this.#judged(this.#facts);
    this.#roots = new Roots(this.#state, this.#keyring.identities.keys, this.#keyring.opened);
    this.#heads = undefined;
  }
}

/** Maximum number of facts that one follows: the IDs of many more would not fit into a file. */
export const MOST_HEADS = 10_000;

/** Generates a root key. */
export const freshRoot = (): Buffer => systemRandom.bytes(32);

/** Prints a warning with each change as long as there is only one card. */
export function sayOnlyWay({ session, state }: Changes): void {
  if (state.cards.length > 1) return;
  session.say(
    'You are the only member: if you lose your key, the secrets are lost. Create a backup key with "coffer team add paper --new", and print what it shows.',
  );
}
