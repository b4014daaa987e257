import { wipe, wiping } from '../../ground/bytes.ts';
import { corrupt, type Place, placed } from '../../ground/errors.ts';
import type { Backend } from '../backends/backend.ts';
import { lockedStore } from '../refusals.ts';
import { RootKey } from '../root-key.ts';
import { parseSlot, type Slot, slotRef } from './slot-file.ts';
import { type SlotKeys, unwrapRootKey } from './slot-keys.ts';
import type { ListedSlot } from './slot-list.ts';

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
        hint: 'the slot that unlocked it was removed; unlock it with another',
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
