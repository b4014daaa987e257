import { wipe } from '../bytes.ts';
import type { Clock } from '../clock.ts';
import { invalid } from '../errors.ts';
import type { Random } from '../random.ts';
import type { Blob, InitialContent } from './backends/backend.ts';
import { COLLECTIONS, headOf } from './collection-index.ts';
import { type Header, newHeader, printHeader } from './header.ts';
import { ROOT_KEY_BYTES, RootKey } from './root-key.ts';
import { prepareSlot } from './slots/new-slot.ts';
import { slotBlob } from './slots/slot-file.ts';
import type { CreatedSlot, SlotRequest } from './slots/slot-kind.ts';
import { sealSlotList } from './slots/slot-list.ts';

export interface NewStore {
  readonly header: Header;
  readonly slots: readonly CreatedSlot[];
  readonly content: InitialContent;
}

const FIRST_GENERATION = 1;

/** Everything that an empty store consists of, under a fresh root key. @throws `invalid` for impossible slots. */
export async function newStore(
  requests: readonly SlotRequest[],
  clock: Clock,
  random: Random,
): Promise<NewStore> {
  if (requests.length === 0) throw invalid('a store needs at least one key slot');
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
  return {
    header,
    slots: prepared.map(({ created }) => created),
    content: {
      header: printHeader(header),
      version: { generation: FIRST_GENERATION, revision: 0 },
      blobs: oneByOne(blobs),
    },
  };
}

async function* oneByOne(blobs: readonly Blob[]): AsyncGenerator<Blob> {
  yield* blobs;
}
