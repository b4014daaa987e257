import { wipe } from '../../ground/bytes.ts';
import { corrupt, type Place, placed, sealed } from '../../ground/errors.ts';
import type { Backend } from '../backends/backend.ts';
import { RootKey } from '../root-key.ts';
import { parseSlot, type Slot, slotRef } from '../slots/slot-file.ts';
import { type SlotKeys, unwrapRootKey } from '../slots/slot-keys.ts';
import type { ListedSlot } from '../slots/slot-list.ts';

/** The keys of an unlocked store: those of the slot that opened it, and with them the root key of the day. */
export class Keyring {
  readonly storeId: string;
  /** The slot that opened the store. */
  readonly slotId: string;
  #keys: SlotKeys | undefined;
  #root: RootKey | undefined;

  constructor(storeId: string, slotId: string, keys: SlotKeys | undefined, root: RootKey) {
    this.storeId = storeId;
    this.slotId = slotId;
    this.#keys = keys;
    this.#root = root;
  }

  /** Of no slot, for a store that is being made: it knows the first root key, and will know no other. */
  static ofOne(root: RootKey): Keyring {
    return new Keyring(root.storeId, '', undefined, root);
  }

  /** Of a slot whose own keys stayed elsewhere: it opens this generation, and ends with it. */
  static handedOver(slotId: string, root: RootKey): Keyring {
    return new Keyring(root.storeId, slotId, undefined, root);
  }

  /**
   * The root key of a generation; after a rekey by another process, the slot's keys open the new one.
   * @throws `sealed` when the store was locked, or the slot was removed since; `corrupt` naming the slot's file.
   */
  async root(backend: Backend, generation: number): Promise<RootKey> {
    if (this.#root?.generation === generation) return this.#root;
    this.#root = await this.open(backend, generation);
    return this.#root;
  }

  /** As `root`, with the keys of the slot, whatever is known of this generation. */
  async open(backend: Backend, generation: number): Promise<RootKey> {
    // Whoever has the keys of no slot knows this one, or none.
    if (this.#keys === undefined && this.#root?.generation === generation) return this.#root;
    const bytes = await backend.read(generation, slotRef(this.slotId));
    if (bytes === undefined || this.#keys === undefined) {
      throw sealed('the store is sealed', {
        hint: 'the slot that unlocked it was removed; unlock it with another',
      });
    }
    const place = backend.locate(generation, slotRef(this.slotId));
    return unwrapRoot(parseSlot(this.slotId, bytes, place), this.#keys, this.storeId, generation, place);
  }

  /** Takes this for the root key of its generation. */
  replaceRoot(root: RootKey): void {
    this.#root = root;
  }

  /**
   * The slot that opened the store as the list of slots has it, for when that list is lost; the label is lost with it.
   * @throws `sealed` when the store was locked.
   */
  listedSlot({ id, kind, created, shares, publicKey }: Slot): ListedSlot {
    if (this.#keys === undefined) throw sealed('the store is sealed');
    const { pairingKey } = this.#keys;
    return {
      id,
      kind,
      created,
      label: '',
      ...(shares === undefined ? {} : { shares }),
      publicKey,
      pairingKey,
    };
  }

  /** Forgets every key. */
  destroy(): void {
    wipe(this.#keys?.pairingKey);
    this.#keys = undefined;
    this.#root = undefined;
  }
}

/** @param place that of the slot, for messages. @throws `corrupt` when the root key in it is not for this slot. */
export function unwrapRoot(
  slot: Slot,
  keys: SlotKeys,
  storeId: string,
  generation: number,
  place: Place,
): RootKey {
  const bytes = unwrapRootKey(slot.rootKey, keys, storeId, generation, slot);
  if (bytes === undefined) {
    throw corrupt(placed`${place} is damaged: the root key in it was not wrapped by this store`, {
      hint: 'unlock with another slot; if nobody meant to change this file, find out who can write to it',
    });
  }
  const root = new RootKey(bytes, storeId, generation);
  wipe(bytes);
  return root;
}
