import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { initStore } from '../../../src/store/administration/init.ts';
import { addSlot, listSlots, removeSlot, replaceSlot } from '../../../src/store/administration/slots.ts';
import { openStore } from '../../../src/store/open.ts';
import { parseSlot, slotBlob } from '../../../src/store/slots/slot-keys.ts';
import type { Credential } from '../../../src/store/slots/unlock.ts';
import { asked } from '../../light-argon2.ts';
import { refused } from '../../refusal.ts';
import { intoDocuments, KEY, rawCredential, temporaryDirectory } from '../temporary-store.ts';

// What counts is the work that is asked for, which tells more than the time it takes.
vi.mock('node:crypto', async (original) =>
  (await import('../../light-argon2.ts')).withLightArgon2(await original()),
);

const passphrase = (text: string): Credential => ({
  kind: 'passphrase',
  source: 'the passphrase',
  reveal: () => text,
});

const rawSlot = () => ({ kind: 'raw', key: Uint8Array.from(KEY) }) as const;

function slotDirectory(directory: string): string {
  const found = readdirSync(directory, { recursive: true, encoding: 'utf8' }).find((name) =>
    /slots$/.test(name),
  );
  if (found === undefined) throw new Error('the store has no directory of slots');
  return join(directory, found);
}

/** Copies of a slot that ask for as much work as a file may, each under a name in front of the true one's. */
function plant(directory: string, id: string, count: number): void {
  const slots = slotDirectory(directory);
  const slot = parseSlot(id, readFileSync(join(slots, `${id}.json`)), { file: 'slot' });
  if (slot.kdf.name !== 'argon2id') throw new Error('not a slot with a passphrase');
  const kdf = { ...slot.kdf, memoryKiB: 262_144, passes: 8 };
  for (let index = 0; index < count; index++) {
    const name = index.toString(16).padStart(16, '0');
    writeFileSync(join(slots, `${name}.json`), slotBlob({ ...slot, id: name, kdf }).bytes, { mode: 0o600 });
  }
}

async function plantedStore(count: number) {
  const directory = join(temporaryDirectory(), 'store');
  const { slots } = await initStore({
    location: directory,
    slots: [{ kind: 'passphrase', passphrase: 'right' }, rawSlot()],
  });
  plant(directory, slots[0]?.id ?? '', count);
  const open = (...credentials: Credential[]) => openStore({ location: directory, credentials });
  return { directory, open };
}

/** Of one slot as it is made today, in KiB times passes. */
const ONE_SLOT = 64 * 1024 * 3;

beforeEach(() => {
  Object.assign(asked, { work: 0, times: 0 });
});

describe('slot files that somebody planted', () => {
  it('do not keep the right passphrase waiting, however many they are and whatever they ask for', async () => {
    const { open } = await plantedStore(200);
    asked.work = 0;
    await open(passphrase('right'));
    expect(asked.work).toBe(ONE_SLOT);
    await open(rawCredential());
    expect(asked.work).toBe(ONE_SLOT);
  });

  it('let a wrong passphrase cost no more than as many slots as a store may have', async () => {
    const { open } = await plantedStore(300);
    asked.work = 0;
    const refusal = await refused(open(passphrase('wrong')));
    expect(asked.work).toBeGreaterThan(ONE_SLOT);
    expect(asked.work).toBeLessThanOrEqual(64 * ONE_SLOT);
    expect(refusal).toMatchObject({
      kind: 'denied',
      message: expect.stringMatching(
        /^the store cannot be unlocked with the passphrase; it has too many key slots to try all of them: \d+ were skipped$/,
      ),
    });
  });

  it('are removed by whoever unlocks with another secret, as the refusal says', async () => {
    const { directory, open } = await plantedStore(2);
    const store = await open(rawCredential());
    for (const name of ['0000000000000000', '0000000000000001']) await removeSlot(store, name);
    store.close();
    await intoDocuments(directory);
    expect(readdirSync(slotDirectory(directory))).toHaveLength(2);
  });
});

describe('the number of key slots', () => {
  it('is bounded when they are added, and when a store is made', async () => {
    const directory = join(temporaryDirectory(), 'store');
    await initStore({ location: directory, slots: Array.from({ length: 64 }, rawSlot) });
    const store = await openStore({ location: directory, credentials: [rawCredential()] });
    expect(await refused(addSlot(store, rawSlot()))).toMatchObject({
      kind: 'conflict',
      message: 'a store has at most 64 key slots',
    });
    // One that takes the place of another needs none of its own.
    const [slot] = await listSlots(store);
    await replaceSlot(store, slot?.id ?? '', rawSlot());
    expect(await listSlots(store)).toHaveLength(64);
    store.close();
    const other = {
      location: join(temporaryDirectory(), 'store'),
      slots: Array.from({ length: 65 }, rawSlot),
    };
    expect(await refused(initStore(other))).toMatchObject({ kind: 'invalid' });
    const label = { ...rawSlot(), label: 'x'.repeat(513) };
    expect(await refused(initStore({ ...other, slots: [label] }))).toMatchObject({ field: 'label' });
  });
});
