import { alternatives } from '../../ground/alternatives.ts';
import { wipe, wiping } from '../../ground/bytes.ts';
import { asCofferError, type CofferError, corrupt, denied, placed } from '../../ground/errors.ts';
import type { Backend } from '../backends/backend.ts';
import { lockedStore, RESTORE } from '../refusals.ts';
import { accepts, keyEncryptionSecret, type SlotSecret, workForSlots, workOf } from './key-encryption.ts';
import { parseShares } from './shares.ts';
import { openSlotKeys, type Slot } from './slot-keys.ts';
import type { SlotKind } from './slot-kind.ts';
import { Keyring, MAX_SLOTS, readFirstSlotFiles, type SlotFile, unwrapRoot } from './slot-list.ts';
import { commandSecret, keyFileSecret, passphraseSecret, rawKeySecret } from './slot-secret.ts';

/** Order in which credentials are tried, cheapest first; a command may prompt the user. */
const order: Record<Credential['kind'], number> = {
  raw: 0,
  'key-file': 1,
  shares: 2,
  command: 3,
  passphrase: 4,
  // Private keys may have a passphrase as well, or need a touch.
  recipient: 5,
};

const turnOf = ({ kind, asks }: Credential): number => (asks ? Object.keys(order).length : order[kind]);
const inTurn = (a: Credential, b: Credential): number => turnOf(a) - turnOf(b);

/** Names of the credentials for each kind of slot, for messages. */
export const kindNames: Record<SlotKind, string> = {
  raw: 'a master key',
  'key-file': 'a key file',
  command: 'the output of a command',
  passphrase: 'a passphrase',
  shares: 'recovery shares',
  recipient: 'an SSH key or age identity',
};

/** Secret to try, and the slots that it may open. */
interface UnlockAttempt {
  readonly secret: SlotSecret;
  readonly slots: readonly UsableSlot[];
}

type UsableSlot = SlotFile & { readonly slot: Slot };

/** Progress so far. */
interface Trying {
  readonly sources: string[];
  /** Slots that a secret was tried on. */
  readonly slots: Set<UsableSlot>;
  /** Number of slots that were not tried, because there are too many or they require too much work. */
  leftOut: number;
}

/**
 * Work limit for one secret. Slot files cannot be authenticated before unlocking, so an attacker with write access
 * could plant expensive ones: cheap slots are tried first, within the total cost of the maximum number of slots.
 * @see docs/decisions/0112
 */
const MOST_WORK = workForSlots(MAX_SLOTS);

/**
 * Opens the first slot that a credential fits.
 * @param which generation that may not be the current one; default: the current one
 * @throws `sealed` if there is nothing to try; `denied` if nothing fits; `corrupt` if nothing fits but a damaged slot
 * might have
 */
export async function unlock(
  backend: Backend,
  storeId: string,
  credentials: readonly Credential[],
  which?: number,
): Promise<Keyring> {
  const { generation, files, unread } =
    which === undefined
      ? await presentSlots(backend)
      : { generation: which, ...(await readFirstSlotFiles(backend, which)) };
  if (files.length === 0)
    throw corrupt(placed`${backend.place} has no key slots left and cannot be unlocked`, {
      hint: RESTORE,
    });
  const usable = files.filter((file): file is UsableSlot => file.slot !== undefined);
  const trying: Trying = { sources: [], slots: new Set(), leftOut: unread };
  for (const credential of [...credentials].sort(inTurn)) {
    if (!usable.some(({ slot }) => mayOpen(credential.kind, slot))) {
      // Do not report secrets that the user was not asked for, or keys that are for other purposes, too.
      const isReported = !['passphrase', 'recipient'].includes(credential.kind);
      if (!credential.asks && isReported) trying.sources.push(credential.source);
      continue;
    }
    const keyring = await openWith(credential, usable, trying, { storeId, generation });
    if (keyring !== undefined) return keyring;
  }
  throw refusal(files, usable, trying);
}

/** Tries a credential, and then further secrets that it offers. */
async function openWith(
  credential: Credential,
  usable: readonly UsableSlot[],
  trying: Trying,
  { storeId, generation }: { readonly storeId: string; readonly generation: number },
): Promise<Keyring | undefined> {
  for (;;) {
    try {
      const attempt = await attemptOf(credential, usable);
      if (attempt === undefined) return undefined;
      trying.sources.push(credential.source);
      for (const slot of attempt.slots) trying.slots.add(slot);
      const keyring = await tryOpen(attempt, trying, storeId, generation);
      if (keyring !== undefined || !credential.again?.()) return keyring;
    } catch (error) {
      // Too few shares.
      if (asCofferError(error)?.kind !== 'denied' || !credential.again?.()) throw error;
    }
  }
}

/** Reads the slot files of one generation, even if another process replaces the root key meanwhile. */
async function presentSlots(backend: Backend) {
  for (;;) {
    const { generation } = await backend.state();
    const read = await readFirstSlotFiles(backend, generation).catch((error: unknown) => ({ error }));
    if ((await backend.state()).generation !== generation) continue;
    if ('files' in read) return { generation, ...read };
    throw read.error;
  }
}

/** Whether a credential of this kind could open a slot, before it is revealed. */
function mayOpen(kind: Credential['kind'], slot: Slot): boolean {
  if (kind === 'shares' || slot.kind === 'shares' || kind === 'recipient') return kind === slot.kind;
  if (kind === 'command') return true;
  return accepts(slot.kdf, kind === 'passphrase' ? 'passphrase' : 'key');
}

/** Reveals a credential; undefined if it is empty. */
async function attemptOf(
  credential: Credential,
  usable: readonly UsableSlot[],
): Promise<UnlockAttempt | undefined> {
  if (credential.kind === 'shares') {
    const texts = await credential.reveal();
    if (texts === undefined || texts.length === 0) return undefined;
    const shares = parseShares(texts);
    const slots = usable.filter(({ slot }) => slot.id === shares.slotId);
    return { secret: await shares.combine(), slots };
  }
  const secret =
    credential.kind === 'recipient' ? await unwrap(credential, usable) : await reveal(credential);
  if (secret === undefined) return undefined;
  const slots = usable.filter(({ slot }) => slot.kind !== 'shares' && accepts(slot.kdf, secret.kind));
  return { secret, slots };
}

type Of<Kind extends Credential['kind']> = Extract<Credential, { kind: Kind }>;

/** Decrypts the secret of a slot; an empty one, which opens nothing, if none is for this credential. */
async function unwrap(
  credential: Of<'recipient'>,
  usable: readonly UsableSlot[],
): Promise<SlotSecret | undefined> {
  const revealed = await credential.reveal(usable.flatMap(({ slot }) => slot.wrapped ?? []));
  if (revealed === undefined) return undefined;
  if (revealed === 'none') return { kind: 'key', bytes: Buffer.alloc(0) };
  return wiping(revealed, rawKeySecret);
}

async function reveal(
  credential: Exclude<Credential, Of<'shares' | 'recipient'>>,
): Promise<SlotSecret | undefined> {
  const revealed = await credential.reveal();
  if (revealed === undefined) return undefined;
  if (typeof revealed === 'string') return revealed === '' ? undefined : passphraseSecret(revealed);
  return wiping(revealed, (bytes) => {
    if (credential.kind !== 'passphrase') return secretOf[credential.kind](bytes);
    return bytes.length === 0 ? undefined : passphraseSecret(bytes);
  });
}

const secretOf = { raw: rawKeySecret, 'key-file': keyFileSecret, command: commandSecret };

async function tryOpen(
  { secret, slots }: UnlockAttempt,
  trying: Trying,
  storeId: string,
  generation: number,
): Promise<Keyring | undefined> {
  const cheapFirst = slots.toSorted((a, b) => workOf(a.slot.kdf) - workOf(b.slot.kdf));
  let work = 0;
  try {
    for (const [index, { slot, place }] of cheapFirst.entries()) {
      work += workOf(slot.kdf);
      if (work > MOST_WORK) {
        trying.leftOut += slots.length - index;
        return undefined;
      }
      const sealingSecret = await keyEncryptionSecret(slot.kdf, secret);
      const keys = openSlotKeys(slot.sealedKeys, sealingSecret, { kdf: slot.kdf, storeId, slot });
      wipe(sealingSecret);
      if (keys === undefined) continue;
      return new Keyring(storeId, slot.id, keys, unwrapRoot(slot, keys, { storeId, generation, place }));
    }
    return undefined;
  } finally {
    wipe(secret.bytes);
  }
}

function refusal(
  files: readonly SlotFile[],
  usable: readonly UsableSlot[],
  { sources, slots, leftOut }: Trying,
): CofferError {
  const broken = files.filter(({ slot }) => slot === undefined);
  const [first] = broken;
  // With no other slot, nothing unlocks the store to replace the damaged one.
  if (first !== undefined && usable.length === 0) {
    const texts = asCofferError(first.problem)?.texts;
    const message = texts?.message ?? placed`${first.place} is damaged`;
    return corrupt(message, { hint: RESTORE, cause: first.problem });
  }
  if (first !== undefined && sources.length > 0) {
    return (
      asCofferError(first.problem) ?? corrupt(placed`${first.place} is damaged`, { cause: first.problem })
    );
  }
  const ways = { hint: `it can be unlocked with ${kindsOf(usable)}` };
  if (sources.length === 0) return lockedStore(ways);
  const refused = `the store cannot be unlocked with ${alternatives([...new Set(sources)])}`;
  if (leftOut === 0) {
    // Of many private keys only some are tried.
    const others = usable.filter((file) => !slots.has(file) || file.slot.kind === 'recipient');
    if (slots.size === 0) return denied(refused, ways);
    const hint =
      others.length > 0
        ? `it can be unlocked with ${kindsOf(others)}`
        : 'nothing else unlocks it: without the right secret, its data is lost';
    return denied(refused, { hint });
  }
  return denied(`${refused}; it has too many key slots to try all of them: ${leftOut} were skipped`, {
    hint: 'slot files may have been planted: unlock with a master key or key file, and remove those listed by "coffer doctor"',
  });
}

const kindsOf = (files: readonly UsableSlot[]): string =>
  alternatives([...new Set(files.map(({ slot }) => kindNames[slot.kind]))]);

/**
 * Value that a credential reveals; undefined if the caller has nothing to offer after all (an empty answer at a
 * prompt).
 */
type Revealed<T> = T | undefined | Promise<T | undefined>;

/**
 * Credential that may unlock a store. `reveal` runs only if the store has a slot that it could open, and once, or again
 * each time that `again` returns true; so a prompt behind it appears only if an answer can help. Byte arrays that it
 * returns are overwritten after use.
 */
export type Credential = {
  /** Name in messages, e.g. `COFFER_MASTER_KEY` or `the passphrase`. */
  readonly source: string;
  /** Set if revealing prompts the user: everything else is tried first, and then these in the order given. */
  readonly asks?: true;
  /** Called if the revealed secret does not open the store. Returns whether another one can be obtained. */
  again?(): boolean;
} & (
  | { readonly kind: 'raw' | 'key-file' | 'command'; readonly reveal: () => Revealed<Uint8Array> }
  /** Passphrase; bytes are UTF-8. */
  | { readonly kind: 'passphrase'; readonly reveal: () => Revealed<string | Uint8Array> }
  /** Share texts in any order. */
  | { readonly kind: 'shares'; readonly reveal: () => Revealed<readonly string[]> }
  /**
   * Private keys. `reveal` is given the encrypted secrets of all slots that have one (files in the age format), and
   * returns one that it could decrypt; `none` if it has keys, but none of them is for these slots.
   */
  | {
      readonly kind: 'recipient';
      readonly reveal: (wrapped: readonly Uint8Array[]) => Revealed<Uint8Array | 'none'>;
    }
);
