import { wipe } from '../../ground/bytes.ts';
import { asCofferError, type CofferError, corrupt, denied, placed, sealed } from '../../ground/errors.ts';
import type { Backend, Followed } from '../backends/backend.ts';
import { steady } from '../backends/whole-store.ts';
import { Keyring, unwrapRoot } from '../sealed/keyring.ts';
import type { Credential } from './credential.ts';
import { accepts, keyEncryptionSecret, type SlotSecret } from './key-encryption.ts';
import { parseShares } from './shares.ts';
import type { Slot } from './slot-file.ts';
import { openSlotKeys } from './slot-keys.ts';
import type { SlotKind } from './slot-kind.ts';
import { readSlotFiles, type SlotFile } from './slot-list.ts';
import { commandSecret, keyFileSecret, passphraseSecret, rawKeySecret } from './slot-secret.ts';

/** Cheapest first; a command may ask somebody. */
const order: Record<Credential['kind'], number> = {
  raw: 0,
  'key-file': 1,
  shares: 2,
  command: 3,
  passphrase: 4,
};

const turnOf = ({ kind, asks }: Credential): number => (asks ? Object.keys(order).length : order[kind]);
const inTurn = (a: Credential, b: Credential): number => turnOf(a) - turnOf(b);

/** What opens a slot of each kind, for messages. */
export const kindNames: Record<SlotKind, string> = {
  raw: 'a master key',
  'key-file': 'a key file',
  command: 'the output of a command',
  passphrase: 'a passphrase',
  shares: 'recovery shares',
};

/** A secret to try, and the slots that it may be for. */
interface Attempt {
  readonly secret: SlotSecret;
  readonly slots: readonly UsableSlot[];
}

type UsableSlot = SlotFile & { readonly slot: Slot };

/**
 * Opens the first slot that a credential fits.
 * @throws `sealed` when there is nothing to try, `denied` when nothing fits, `corrupt` when nothing fits but a slot is
 * damaged that might have.
 */
export async function unlock(
  backend: Backend,
  storeId: string,
  credentials: readonly Credential[],
): Promise<Keyring> {
  const { generation, files } = await presentSlots(backend);
  const usable = files.filter((file): file is UsableSlot => file.slot !== undefined);
  const tried: string[] = [];
  for (const credential of [...credentials].sort(inTurn)) {
    if (!usable.some(({ slot }) => mayOpen(credential.kind, slot))) {
      // What nobody was asked for was not tried.
      if (!credential.asks && credential.kind !== 'passphrase') tried.push(credential.source);
      continue;
    }
    const keyring = await openWith(credential, usable, tried, storeId, generation);
    if (keyring !== undefined) return keyring;
  }
  throw refusal(files, usable, tried);
}

/** Tries a credential, and then whatever else it has to offer. */
async function openWith(
  credential: Credential,
  usable: readonly UsableSlot[],
  tried: string[],
  storeId: string,
  generation: number,
): Promise<Keyring | undefined> {
  for (;;) {
    try {
      const attempt = await attemptOf(credential, usable);
      if (attempt === undefined) return undefined;
      tried.push(credential.source);
      const keyring = await tryOpen(attempt, storeId, generation);
      if (keyring !== undefined || !credential.again?.()) return keyring;
    } catch (error) {
      // Too few shares.
      if (asCofferError(error)?.kind !== 'denied' || !credential.again?.()) throw error;
    }
  }
}

/** The slot files of one generation, even when another process replaces the root key meanwhile. */
async function presentSlots(backend: Backend): Promise<{ generation: number; files: readonly SlotFile[] }> {
  for (;;) {
    const { state, view } = await presentView(backend);
    const { generation } = state;
    const files = await readSlotFiles(view, generation).catch((error: unknown) => error);
    if ((await backend.state()).generation !== generation) continue;
    if (Array.isArray(files)) return { generation, files };
    throw files;
  }
}

/** A damaged journal says nothing of the slots: whoever unlocks is told of it by what comes next. */
async function presentView(backend: Backend): Promise<Followed> {
  try {
    return await steady(backend);
  } catch (error) {
    if (asCofferError(error)?.kind !== 'corrupt') throw error;
    return { state: await backend.state(), view: backend };
  }
}

/** Whether a credential of this kind could be for a slot, before it is revealed. */
function mayOpen(kind: Credential['kind'], slot: Slot): boolean {
  if (kind === 'shares' || slot.kind === 'shares') return kind === slot.kind;
  if (kind === 'command') return true;
  return accepts(slot.kdf, kind === 'passphrase' ? 'passphrase' : 'key');
}

/** Undefined when the credential turns out to be nothing. */
async function attemptOf(
  credential: Credential,
  usable: readonly UsableSlot[],
): Promise<Attempt | undefined> {
  if (credential.kind === 'shares') {
    const texts = await credential.reveal();
    if (texts === undefined || texts.length === 0) return undefined;
    const shares = parseShares(texts);
    const slots = usable.filter(({ slot }) => slot.id === shares.slotId);
    return { secret: await shares.combine(), slots };
  }
  const secret = await reveal(credential);
  if (secret === undefined) return undefined;
  const slots = usable.filter(({ slot }) => slot.kind !== 'shares' && accepts(slot.kdf, secret.kind));
  return { secret, slots };
}

async function reveal(credential: Exclude<Credential, { kind: 'shares' }>): Promise<SlotSecret | undefined> {
  const revealed = await credential.reveal();
  if (revealed === undefined) return undefined;
  if (typeof revealed === 'string') return revealed === '' ? undefined : passphraseSecret(revealed);
  try {
    if (credential.kind !== 'passphrase') return secretOf[credential.kind](revealed);
    return revealed.length === 0 ? undefined : passphraseSecret(revealed);
  } finally {
    wipe(revealed);
  }
}

const secretOf = { raw: rawKeySecret, 'key-file': keyFileSecret, command: commandSecret };

async function tryOpen(attempt: Attempt, storeId: string, generation: number): Promise<Keyring | undefined> {
  const { secret, slots } = attempt;
  try {
    for (const { slot, place } of slots) {
      const sealingSecret = await keyEncryptionSecret(slot.kdf, secret);
      const keys = openSlotKeys(slot.sealedKeys, sealingSecret, slot.kdf, storeId, slot);
      wipe(sealingSecret);
      if (keys === undefined) continue;
      return new Keyring(storeId, slot.id, keys, unwrapRoot(slot, keys, storeId, generation, place));
    }
    return undefined;
  } finally {
    wipe(secret.bytes);
  }
}

function refusal(
  files: readonly SlotFile[],
  usable: readonly UsableSlot[],
  tried: readonly string[],
): CofferError {
  const broken = files.filter(({ slot }) => slot === undefined);
  const [first] = broken;
  if (first !== undefined && (tried.length > 0 || usable.length === 0)) {
    return (
      asCofferError(first.problem) ?? corrupt(placed`${first.place} is damaged`, { cause: first.problem })
    );
  }
  const kinds = [...new Set(usable.map(({ slot }) => slot.kind))].map((kind) => kindNames[kind]);
  const ways = kinds.length === 0 ? {} : { hint: `it opens with ${kinds.join(' or ')}` };
  if (tried.length === 0) return sealed('the store is sealed', ways);
  return denied(`this store does not open with ${[...new Set(tried)].join(' or ')}`, ways);
}
