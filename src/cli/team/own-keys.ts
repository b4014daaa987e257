import { denied } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';
import { type CardFact, type Fact, isCard } from '../../team/fact.ts';
import { hasLeft, type Judgement, nameOf } from '../../team/judge/judge.ts';
import { cardsFor } from '../../team/own-key.ts';
import type { Roots } from '../../team/roots.ts';
import { findIdentities, type Identities, type PersonalKey } from '../secrets/identities.ts';
import { identityStamp, namedIdentities } from '../secrets/identity-places.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Private keys for a keyring. */
export interface KeyringIdentities extends Identities {
  /** Whether the user was prompted since the keys were read: for a passphrase, or by a plugin. */
  wasAsked(): boolean;
  /** State of the files that they were found in; undefined for those of a pipeline, or without files. */
  readonly stamp: string | undefined;
}

/**
 * Private keys that a command has found, by the file of `--identity`, so that the user is not asked twice for a
 * passphrase.
 */
const foundBy = new WeakMap<Session, Map<string | undefined, Promise<KeyringIdentities>>>();

/**
 * Returns the private keys that may open a keyring.
 * @param path file of `--identity`
 * @throws as `findIdentities`
 */
export function keyringIdentities(session: Session, path?: string): Promise<KeyringIdentities> {
  return madeOnce(
    madeOnce(foundBy, session, () => new Map()),
    path,
    () => find(session, path),
  );
}

async function find(session: Session, path: string | undefined): Promise<KeyringIdentities> {
  let asked = false;
  const { prompts } = session;
  const noting = session.askedThrough({
    ...prompts,
    secret(question) {
      asked = true;
      return prompts.secret(question);
    },
  });
  // Taken before the files are read: a change meanwhile makes it another one.
  const stamp = identityStamp(session.environment, path);
  const { keys, atLeast } = await findIdentities(noting, namedIdentities(session.environment, path));
  const noted = keys.map((key) => ({
    ...key,
    identity() {
      // Only the plugin knows whether it asked for a touch.
      asked ||= key.plugin !== undefined;
      return key.identity();
    },
  }));
  return { keys: noted, atLeast, wasAsked: () => asked, stamp: atLeast === undefined ? stamp : undefined };
}

/** Returns the user's own cards, those that can sign first; an empty list if they cannot be determined. */
export function ownCards(keys: readonly PersonalKey[], cards: readonly CardFact[]): readonly CardFact[] {
  const own = keys.map((key) => cardsFor(key, cards)).filter((found, at) => isTold(keys[at], found));
  return [...new Set(own.flat())].sort(
    (a, b) => Number(b.card.sign !== undefined) - Number(a.card.sign !== undefined),
  );
}

/** Whether the card of a key is known. A key of a plugin may belong to any card with a key of that plugin. */
const isTold = (key: PersonalKey | undefined, found: readonly CardFact[]): boolean =>
  found.length === 1 || found.some(({ card }) => card.keys.includes(key?.recipient ?? ''));

/**
 * Refuses a key of a plugin whose public key is needed but unknown.
 * @throws `denied`
 */
export function untold({ plugin, where }: PersonalKey): never {
  throw denied(`${where} does not contain the public key of its age-plugin-${plugin} identity`, {
    hint: 'add the line "# public key: age1…" above the identity, as the plugin printed it',
  });
}

/**
 * Returns a hint for someone who was removed from a keyring, and whose keys therefore open nothing.
 * @returns undefined for members, and for those who never were one
 */
export function removedHint(state: Judgement, keys: readonly PersonalKey[]): string | undefined {
  if (keys.some((key) => cardsFor(key, state.cards).length > 0)) return undefined;
  const left = [...state.good.values()].filter(isCard).filter(({ id }) => hasLeft(state, id));
  const own = new Set(keys.flatMap((key) => cardsFor(key, left)).map(({ id }) => id));
  const isOwnRemoval = ({ without }: Fact): boolean => without.some(({ id }) => own.has(id));
  const removal = state.removals.findLast(isOwnRemoval);
  if (removal === undefined) return undefined;
  return `${nameOf(state, removal.by)} removed you from this keyring on ${removal.at.slice(0, 10)}; ask an admin to add you again`;
}

/** Root keys, as far as this person's keys open them. */
interface RootsInUse {
  readonly roots: Roots;
  readonly state: Judgement;
  readonly identities?: Pick<Identities, 'keys'>;
}

/**
 * Returns a root key to encrypt with, or to give to another person.
 * @throws `denied` if this person cannot open it, or if its author could only sign
 */
export async function usableRoot({ roots, state, identities }: RootsInUse, epoch: string): Promise<Buffer> {
  const root = await roots.open(epoch);
  const fact = state.facts.get(epoch);
  if (root === undefined) {
    throw denied(`none of your keys opens .coffer/${fact?.path ?? epoch}`, {
      hint: removedHint(state, identities?.keys ?? []) ?? 'an admin must run "coffer team settle"',
    });
  }
  if (await roots.isSighted(epoch)) return root;
  const name = nameOf(state, fact?.by ?? '');
  throw denied(
    `.coffer/${fact?.path} was signed as ${name} by someone without access to the keyring, e.g. through a forwarded ssh-agent: refusing to encrypt with it`,
    { hint: `remove this member with "coffer team remove ${shellWord(name)}", which replaces all keys` },
  );
}

/** Returns the trusted epochs that this person can use. */
export async function usableEpochs({ roots, state }: RootsInUse): Promise<readonly Fact[]> {
  const usable: Fact[] = [];
  for (const epoch of state.believed)
    if ((await roots.open(epoch.id)) !== undefined && (await roots.isSighted(epoch.id))) usable.push(epoch);
  return usable;
}
