import { createPublicKey, type KeyObject } from 'node:crypto';
import { denied, expected } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';
import { sshFingerprint } from '../../signatures/ssh-key.ts';
import { armorOfLine, openArmor } from '../../team/armor.ts';
import type { CardFact } from '../../team/fact.ts';
import { cardsFor } from '../../team/own-key.ts';
import { signerOf, sshLineOf } from '../../team/recipients.ts';
import { signed, signedWith } from '../../team/signing.ts';
import { ed25519FromSeed } from '../../transit/key-types/der.ts';
import { variable } from '../given.ts';
import type { PersonalKey } from '../secrets/identities.ts';
import type { Session } from '../session.ts';
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
export async function findSigner(
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
