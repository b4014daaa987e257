import { wipe, wiping } from '../../ground/bytes.ts';
import { corrupt, type Place, placed } from '../../ground/errors.ts';
import type { Backend, Blob, BlobRef } from '../backends/backend.ts';
import { addAgain, LIST_LOST, lockedStore, missing } from '../refusals.ts';
import { type BlobIdentity, RootKey } from '../root-key.ts';
import {
  parseSlot,
  type Slot,
  type SlotIdentity,
  type SlotKeys,
  samePublicKey,
  slotRef,
  unwrapRootKey,
} from './slot-keys.ts';
import type { SlotSummary } from './slot-kind.ts';

/**
 * Maximum number of slots: more than users can tell apart; each slot with a passphrase makes a wrong passphrase cost
 * its stretching once more.
 */
export const MAX_SLOTS = 64;

/** Entry of the sealed list of slots. */
export interface ListedSlot extends SlotIdentity {
  readonly label: string;
  /** Only for `recipient`: the public key. It is only here, so that the slot file does not show it. */
  readonly recipient?: string | undefined;
  /** Pairing key, 32 bytes; see `SlotKeys`. */
  readonly pairingKey: Buffer;
}

/**
 * Identity of the sealed list of a store's slots. Slot files can be written by anyone who can write to the disk;
 * entries of this list were written by a holder of the root key. Only slots that match it are trusted with a root key.
 */
export const SLOT_LIST: BlobIdentity = { space: 'slots', collection: '', id: 'list' };

interface PrintedSlot extends Omit<SlotSummary, 'id'> {
  readonly id: string;
  readonly publicKey: string;
  readonly pairingKey: string;
}

export function sealSlotList(root: RootKey, slots: readonly ListedSlot[]): Blob {
  const printed: PrintedSlot[] = slots.map(({ publicKey, pairingKey, ...slot }) => ({
    ...slot,
    publicKey: publicKey.toString('base64'),
    pairingKey: pairingKey.toString('base64'),
  }));
  return root.seal(SLOT_LIST, JSON.stringify({ slots: printed }));
}

/**
 * Opens the list of slots.
 * @throws `corrupt` if it is damaged or missing
 */
export async function openSlotList(backend: Backend, root: RootKey): Promise<ListedSlot[]> {
  const ref = root.refOf(SLOT_LIST);
  const place = backend.locate(root.generation, ref);
  const bytes = await backend.read(root.generation, ref);
  if (bytes === undefined) throw missing(place, LIST_LOST);
  return parseSlotList(root.open(ref, bytes, place).json);
}

/**
 * Parses the list.
 * @param json JSON text that was sealed
 */
export function parseSlotList(json: string): ListedSlot[] {
  const { slots } = JSON.parse(json) as { slots: PrintedSlot[] };
  return slots.map(({ publicKey, pairingKey, ...slot }) => ({
    ...slot,
    publicKey: Buffer.from(publicKey, 'base64'),
    pairingKey: Buffer.from(pairingKey, 'base64'),
  }));
}

export const summaryOf = ({ id, kind, created, label, shares, recipient }: ListedSlot): SlotSummary => ({
  id,
  kind,
  created,
  label,
  shares,
  recipient,
});

/** Slot file, or the reason why it cannot be used. */
export type SlotFile = { readonly name: string; readonly place: Place } & (
  | { readonly slot: Slot; readonly problem?: undefined }
  | { readonly slot?: undefined; readonly problem: unknown }
);

/** Reads every slot file of a generation, sorted by name. A problem with one does not hide the others. */
export async function readSlotFiles(backend: Backend, generation: number): Promise<SlotFile[]> {
  const names = await backend.names(generation, 'slots');
  return Promise.all(names.sort().map((name) => readSlotFile(backend, generation, name)));
}

/** Maximum number of slots to read. Earlier releases had no maximum, so more are read than can be created. */
const MAX_READ = 4 * MAX_SLOTS;

/** Reads a bounded number of slot files, before it is known which of them belong to the store. */
export async function readFirstSlotFiles(
  backend: Backend,
  generation: number,
): Promise<{ readonly files: readonly SlotFile[]; readonly unread: number }> {
  const names = (await backend.names(generation, 'slots')).sort();
  const first = names.slice(0, MAX_READ);
  return {
    files: await Promise.all(first.map((name) => readSlotFile(backend, generation, name))),
    unread: names.length - first.length,
  };
}

async function readSlotFile(backend: Backend, generation: number, name: string): Promise<SlotFile> {
  const place = backend.locate(generation, slotRef(name));
  try {
    return parseSlotFile(name, await backend.read(generation, slotRef(name)), place);
  } catch (problem) {
    return { name, place, problem };
  }
}

/**
 * Parses a slot file.
 * @param bytes undefined if the file does not exist any more
 */
export function parseSlotFile(name: string, bytes: Uint8Array | undefined, place: Place): SlotFile {
  try {
    if (bytes === undefined) throw missing(place);
    return { name, place, slot: parseSlot(name, bytes, place) };
  } catch (problem) {
    return { name, place, problem };
  }
}

interface SlotProblem {
  readonly id: string;
  readonly place: Place;
  readonly problem: unknown;
}

/** Compares the slot files with the sealed list; returns no problems if all agree. */
export async function compareSlots(
  backend: Backend,
  root: RootKey,
  listed: readonly ListedSlot[],
): Promise<SlotProblem[]> {
  const files = await readSlotFiles(backend, root.generation);
  return compareSlotFiles(files, listed, (ref) => backend.locate(root.generation, ref));
}

/** Like `compareSlots`, for slot files from anywhere. */
export function compareSlotFiles(
  files: readonly SlotFile[],
  listed: readonly ListedSlot[],
  locate: (ref: BlobRef) => Place,
): SlotProblem[] {
  const problems = files.flatMap(({ name, place, slot, problem }) => {
    const known = listed.find(({ id }) => id === name);
    if (known === undefined) return [{ id: name, place, problem: unlisted(place, name) }];
    if (slot === undefined) return [{ id: name, place, problem }];
    return samePublicKey(slot.publicKey, known.publicKey)
      ? []
      : [{ id: name, place, problem: unlisted(place, name) }];
  });
  const gone = listed.filter(({ id }) => !files.some(({ name }) => name === id));
  for (const { id } of gone) {
    const place = locate(slotRef(id));
    problems.push({ id, place, problem: missing(place, addAgain(id)) });
  }
  return problems;
}

const unlisted = (place: Place, slotId: string) =>
  corrupt(placed`${place} was not created by this store`, {
    hint: `an attacker may have added this key slot: remove it with "coffer slots remove ${slotId}", and check which users can write to the store`,
  });

/** Keys of an unlocked store: those of the slot that opened it, and the current root key. */
export class Keyring {
  readonly storeId: string;
  /** Slot that opened the store. */
  readonly slotId: string;
  #keys: SlotKeys | undefined;
  #root: RootKey | undefined;

  constructor(storeId: string, slotId: string, keys: SlotKeys | undefined, root: RootKey) {
    this.storeId = storeId;
    this.slotId = slotId;
    this.#keys = keys;
    this.#root = root;
  }

  /**
   * Creates a keyring that opens only this generation: for a store that is being created, and then without a slot, or
   * for a slot whose own keys stayed in another process.
   */
  static handedOver(slotId: string, root: RootKey): Keyring {
    return new Keyring(root.storeId, slotId, undefined, root);
  }

  /**
   * Returns the root key of a generation; after a rekey by another process, the slot's keys open the new one.
   * @throws `sealed` if the store was locked, or the slot was removed; `corrupt` naming the slot's file
   */
  async root(backend: Backend, generation: number): Promise<RootKey> {
    if (this.#root?.generation === generation) return this.#root;
    this.#root = await this.open(backend, generation);
    return this.#root;
  }

  /** Like `root`, but always opens the generation with the keys of the slot. */
  async open(backend: Backend, generation: number): Promise<RootKey> {
    // A keyring without slot keys knows this generation's root key, or none.
    if (this.#keys === undefined && this.#root?.generation === generation) return this.#root;
    const bytes = await backend.read(generation, slotRef(this.slotId));
    if (bytes === undefined || this.#keys === undefined) {
      throw lockedStore({
        hint: 'the slot that unlocked the store was removed; unlock with another slot',
      });
    }
    const place = backend.locate(generation, slotRef(this.slotId));
    return unwrapRoot(parseSlot(this.slotId, bytes, place), this.#keys, {
      storeId: this.storeId,
      generation,
      place,
    });
  }

  /** Replaces the root key by that of another generation. */
  replaceRoot(root: RootKey): void {
    this.#root = root;
  }

  /**
   * Returns the list entry of the slot that opened the store, for a lost list of slots; its label is lost with the
   * list.
   * @throws `sealed` if the store was locked
   */
  listedSlot({ id, kind, created, shares, publicKey }: Slot): ListedSlot {
    if (this.#keys === undefined) throw lockedStore();
    const { pairingKey } = this.#keys;
    return { id, kind, created, label: '', shares, publicKey, pairingKey };
  }

  /** Wipes every key. */
  destroy(): void {
    wipe(this.#keys?.pairingKey);
    this.#keys = undefined;
    this.#root = undefined;
  }
}

interface SlotOrigin {
  readonly storeId: string;
  readonly generation: number;
  readonly place: Place;
}

/**
 * Unwraps the root key of a slot.
 * @param place location of the slot, for messages
 * @throws `corrupt` if the root key in it is not for this slot
 */
export function unwrapRoot(slot: Slot, keys: SlotKeys, { storeId, generation, place }: SlotOrigin): RootKey {
  const bytes = unwrapRootKey(slot.rootKey, keys, { storeId, generation, slot });
  if (bytes === undefined) {
    throw corrupt(placed`${place} is damaged: the key in it was not written by this store`, {
      hint: 'unlock with another slot; if this change was not intended, check which users can write to the file',
    });
  }
  return wiping(bytes, () => new RootKey(bytes, storeId, generation));
}
