import { createPublicKey, type KeyObject } from 'node:crypto';
import { relative } from 'node:path';
import { systemClock } from '../../ground/clock.ts';
import { type CofferError, conflict, denied, expected } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';
import { systemRandom } from '../../ground/random.ts';
import { sshFingerprint } from '../../signatures/ssh-key.ts';
import { ArmorSealer, armorOfLine, openArmor } from '../../team/armor.ts';
import { type CardFact, type Fact, type FactKind, isCard, printMessage, takesOut } from '../../team/fact.ts';
import { writeFact } from '../../team/files.ts';
import { headsOf, type Judgement, judge, nameOf, pastOf } from '../../team/judge/judge.ts';
import { cardsFor } from '../../team/own-key.ts';
import { signerOf, sshLineOf } from '../../team/recipients.ts';
import { Roots } from '../../team/roots.ts';
import { signatureCheck, signed, signedWith, verifiedMark } from '../../team/signing.ts';
import { ed25519FromSeed } from '../../transit/key-types/der.ts';
import { variable } from '../given.ts';
import type { PersonalKey } from '../secrets/identities.ts';
import { pluginHost } from '../secrets/plugins.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { requireAdmin, type TeamKeyring } from './keyring.ts';

/*
 * Finding what signs for a person: a private key, a signing key that is sealed in their card, or their ssh-agent.
 * @see docs/decisions/0317
 */

/** Signs a message; returns the signature in base64. */
export type Signer = (message: string) => Promise<string>;

/** Signing keys in the ssh-agent, in the form of cards, and how each signs. */
type AgentKeys = ReadonlyMap<string, (data: Buffer) => Promise<Uint8Array>>;

const NONE: AgentKeys = new Map();
const agentKeysBy = new WeakMap<Session, Promise<AgentKeys>>();
/** Answers to the question whether an ssh-agent is used, by signing key, so that it is asked once. */
const consentBy = new WeakMap<Session, Map<string, Promise<boolean>>>();

/** Lists the Ed25519 keys in the user's ssh-agent. Off a terminal there are none, because the user is asked. */
const agentKeys = (session: Session): Promise<AgentKeys> =>
  madeOnce(agentKeysBy, session, () => findAgentKeys(session));

async function findAgentKeys(session: Session): Promise<AgentKeys> {
  const socket = variable(session.environment, 'SSH_AUTH_SOCK') ?? '';
  if (socket === '' || !session.prompts.available()) return NONE;
  const { sshAgentKeys, signWithSshAgent } = await import('../../client/ssh-agent.ts');
  try {
    const blobs = (await sshAgentKeys(socket)) ?? [];
    return new Map(
      blobs.map((blob) => {
        const line = `ssh-ed25519 ${blob.toString('base64')}`;
        return [line, (data: Buffer) => signWithSshAgent(socket, signerOf(line), data)];
      }),
    );
  } catch (error) {
    const failure = expected(error);
    session.warn(failure.message);
    return NONE;
  }
}

/**
 * Returns how the ssh-agent signs with a key, if it has it and the user agrees.
 * @param line key in the form of cards
 * @param name name of the member in the question
 */
export async function agentSigner(session: Session, line: string, name: string): Promise<Signer | undefined> {
  const sign = (await agentKeys(session)).get(line);
  if (sign === undefined) return undefined;
  const key = signerOf(line);
  const answers = madeOnce(consentBy, session, () => new Map());
  return (await madeOnce(answers, line, () => askWhether(session, key, name)))
    ? (message) => signedWith(message, key, sign)
    : undefined;
}

async function askWhether(session: Session, key: KeyObject, name: string): Promise<boolean> {
  const what = `as ${name} with the key ${sshFingerprint(key)} of your ssh-agent`;
  if (!session.settings.yes) return session.prompts.confirm(`Sign ${what}?`, { isYesByDefault: true });
  session.say(`Signing ${what}.`);
  return true;
}

/**
 * Returns the card of this person that can sign.
 * @throws `denied` if there is none, neither by their private keys nor by their ssh-agent
 */
export async function requireSigningCard(session: Session, keyring: TeamKeyring): Promise<CardFact> {
  if (keyring.card?.card.sign !== undefined) return keyring.card;
  const [card] = await cardsInAgent(session, keyring);
  return card ?? requireAdmin(keyring);
}

/** Returns the cards of admins whose signing key is in the ssh-agent, the person's own name first. */
async function cardsInAgent(
  session: Session,
  { state, ownCards, card: own }: TeamKeyring,
): Promise<readonly CardFact[]> {
  const keys = await agentKeys(session);
  const rank = (fact: CardFact): number =>
    ownCards.includes(fact) ? 0 : fact.card.name === own?.card.name ? 1 : 2;
  return state.cards.filter(({ card }) => keys.has(card.sign ?? '')).sort((a, b) => rank(a) - rank(b));
}

/**
 * Finds what signs for this person, with the fewest questions: private keys that ask for nothing, the ssh-agent, then
 * private keys with a passphrase.
 * @throws `denied` for a person who is not an admin, or does not have the signing key
 */
async function findSigner(
  session: Session,
  keyring: TeamKeyring,
): Promise<{ readonly card: CardFact; readonly signer: Signer }> {
  const first = await requireSigningCard(session, keyring);
  // The root key is needed anyway, and a passphrase that opens it also signs.
  await openOne(keyring);
  const { ownCards, identities } = keyring;
  const unlocked = identities.keys.filter((key) => key.isLocked?.() !== true);
  const direct = await signerAmong(ownCards, unlocked);
  if (direct !== undefined) return direct;
  const [card] = await cardsInAgent(session, keyring);
  if (card !== undefined) {
    requireOpened(keyring, card);
    const signer = await agentSigner(session, card.card.sign ?? '', card.card.name);
    if (signer !== undefined) return { card, signer };
  }
  const asking = await signerAmong(ownCards, identities.keys);
  if (asking !== undefined) return asking;
  throw denied(`the key that signs for ${first.card.name} is not available`, {
    hint: 'set COFFER_IDENTITY_FILE to the private key that was used to become an admin',
  });
}

/** Opens the root key that a change uses, if it can be opened. */
async function openOne({ state, roots }: TeamKeyring): Promise<void> {
  const epochs = state.believed.length > 0 ? state.believed.map(({ id }) => id) : state.newest;
  for (const id of epochs) if ((await roots.open(id)) !== undefined) return;
}

/**
 * Refuses an agent that signs for somebody who can decrypt nothing, because what they would add is of no use.
 * @throws `denied`
 */
function requireOpened({ roots }: TeamKeyring, { card }: CardFact): void {
  if (roots.known.size > 0) return;
  throw denied(`your ssh-agent can sign as ${card.name}, but none of your keys decrypts the keyring`, {
    hint: `an ssh-agent cannot decrypt: set COFFER_IDENTITY_FILE to the private key, or have another key added with "coffer team add ${card.name} KEY"`,
  });
}

/** Finds the first card that private keys sign for. */
async function signerAmong(
  cards: readonly CardFact[],
  keys: readonly PersonalKey[],
): Promise<{ readonly card: CardFact; readonly signer: Signer } | undefined> {
  // A card that another admin made with this person's key, but with that admin's signing key, is skipped.
  for (const card of cards) {
    const key = await signerOfCard(card, keys);
    if (key !== undefined) return { card, signer: async (message) => signed(message, key) };
  }
  return undefined;
}

/** Returns the signing key of a card; undefined if this person does not have it, or cannot open it. */
async function signerOfCard(fact: CardFact, keys: readonly PersonalKey[]): Promise<KeyObject | undefined> {
  const { card } = fact;
  const direct = keys.find(({ recipient, signer }) => recipient === card.sign && signer !== undefined);
  const found = (await direct?.signer?.()) ?? (await sealedSigner(fact, keys));
  return found !== undefined && sshLineOf(createPublicKey(found)) === card.sign ? found : undefined;
}

async function sealedSigner(fact: CardFact, keys: readonly PersonalKey[]): Promise<KeyObject | undefined> {
  const { secret } = fact.card;
  if (secret === undefined) return undefined;
  for (const key of keys.filter((own) => cardsFor(own, [fact]).length > 0)) {
    const seed = await openArmor(armorOfLine(secret), await key.identity());
    if (seed !== undefined) return ed25519FromSeed(seed);
  }
  return undefined;
}

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

  /** Whether all keys of a card are this person's: one of several may be somebody else's. */
  isOwn({ card }: CardFact): boolean {
    const own = new Set(this.#keyring.identities.keys.map(({ recipient }) => recipient));
    return card.keys.every((key) => own.has(key));
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
