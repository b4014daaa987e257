/** Options for a new store. */
import { wipe } from '../../ground/bytes.ts';
import { type Clock, systemClock } from '../../ground/clock.ts';
import { closing, invalid } from '../../ground/errors.ts';
import { type Random, systemRandom } from '../../ground/random.ts';
import type { Blob, InitialContent } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { MemoryBackend } from '../backends/memory.ts';
import { createAt, requireFreeAt, withBackendAt } from '../backends/registry.ts';
import { readEvery } from '../backends/whole-store.ts';
import { type Header, newHeader, printHeader, readHeader } from '../header.ts';
import { storeThere } from '../refusals.ts';
import { ROOT_KEY_BYTES, RootKey } from '../root-key.ts';
import { COLLECTIONS, headOf } from '../sealed/collection-index.ts';
import { SealedStore } from '../sealed/sealed-store.ts';
import { prepareSlot } from '../slots/new-slot.ts';
import { slotBlob } from '../slots/slot-keys.ts';
import type { CreatedSlot, SlotRequest } from '../slots/slot-kind.ts';
import { Keyring, MAX_SLOTS, sealSlotList } from '../slots/slot-list.ts';
import type { Store } from '../store.ts';

interface InitOptions {
  /**
   * Location of the store. A missing directory is created, an existing one must be empty; database tables are created.
   */
  readonly location: Location;
  /** Key slots; at least one. */
  readonly slots: readonly SlotRequest[];
  /** Writes the first documents. The store is created together with them, or not at all. */
  readonly furnish?: Furnish | undefined;
  /**
   * Called before the store exists, so that no secret is lost if the process dies. If it throws, no store is created.
   */
  readonly tell?: (made: InitResult) => Promise<void>;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface InitResult {
  /** Store ID, a UUID. */
  readonly id: string;
  /** Created slots, in the order of the request. */
  readonly slots: readonly CreatedSlot[];
}

/**
 * Checks early whether a store can be created, before the user is asked for a passphrase.
 * @throws `exists` if there is a store; `conflict` if there is anything else; `unavailable` if the disk refuses
 */
export async function refuseStoreAt(location: Location): Promise<void> {
  const place = await withBackendAt(location, async (backend) => {
    await readHeader(backend);
    return backend.place;
  }).catch(() => undefined);
  if (place !== undefined) throw storeThere(place);
  await requireFreeAt(location);
}

/**
 * Creates a new store with a random root key in the requested slots, empty except for documents that `furnish` writes.
 * Leaves nothing usable behind on failure.
 * @throws `exists` if the directory has a store; `conflict` if it has anything else; `invalid` for an impossible slot;
 * `unavailable` if the disk fails
 */
export async function initStore(options: InitOptions): Promise<InitResult> {
  const { location, slots, clock = systemClock, random = systemRandom, furnish, tell } = options;
  const { header, content, slots: created } = await newStore(slots, clock, random, furnish);
  const made: InitResult = { id: header.id, slots: created };
  const blobs = tell === undefined ? content.blobs : afterAll(content.blobs, () => tell(made));
  await createAt(location, { ...content, blobs });
  return made;
}

/** Calls `tell` after the last blob has been taken, which is before the store gets its final name. */
async function* afterAll(blobs: InitialContent['blobs'], tell: () => Promise<void>): AsyncGenerator<Blob> {
  yield* blobs;
  await tell();
}

interface NewStore {
  readonly header: Header;
  readonly slots: readonly CreatedSlot[];
  readonly content: InitialContent;
}

/** Callback that writes the first documents of a store. */
type Furnish = (store: Store) => Promise<void>;

const FIRST_GENERATION = 1;

/**
 * Creates the content of a new store under a fresh root key: empty, or filled by `furnish`.
 * @throws `invalid` for impossible slots
 */
export async function newStore(
  requests: readonly SlotRequest[],
  clock: Clock,
  random: Random,
  furnish?: Furnish,
): Promise<NewStore> {
  if (requests.length === 0) throw invalid('a store needs at least one key slot');
  if (requests.length > MAX_SLOTS) throw invalid(`a store has at most ${MAX_SLOTS} key slots`);
  const header = newHeader(clock);
  const prepared = [];
  for (const request of requests) {
    prepared.push(await prepareSlot(request, { storeId: header.id, clock, random }));
  }
  const rootKey = random.bytes(ROOT_KEY_BYTES);
  const root = new RootKey(rootKey, header.id, FIRST_GENERATION, random);
  const blobs = [
    ...prepared.map((slot) => slotBlob(slot.wrap(rootKey, FIRST_GENERATION))),
    sealSlotList(
      root,
      prepared.map(({ listed }) => listed),
    ),
    root.seal(headOf(COLLECTIONS), JSON.stringify({ ids: [] })),
  ];
  wipe(rootKey);
  const empty: InitialContent = {
    header: printHeader(header),
    version: { generation: FIRST_GENERATION, revision: 0 },
    blobs,
  };
  return {
    header,
    slots: prepared.map(({ created }) => created),
    content: furnish === undefined ? empty : await furnished(empty, Keyring.handedOver('', root), furnish),
  };
}

/** Fills the store in memory, so that it never exists without its initial content. */
async function furnished(empty: InitialContent, keyring: Keyring, furnish: Furnish): Promise<InitialContent> {
  const backend = await MemoryBackend.create(empty);
  await closing(new SealedStore(backend, keyring), furnish);
  return { ...empty, blobs: readEvery(backend, empty.version.generation) };
}
