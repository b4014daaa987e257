import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/ground/clock.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import type { Backend } from '../../../src/store/backends/backend.ts';
import { RootKey } from '../../../src/store/root-key.ts';
import { prepareSlot } from '../../../src/store/slots/new-slot.ts';
import { checkShareCounts } from '../../../src/store/slots/shares.ts';
import {
  newSlotKeys,
  parseSlot,
  slotBlob,
  unwrapRootKey,
  wrapRootKey,
} from '../../../src/store/slots/slot-keys.ts';
import type { SlotRequest } from '../../../src/store/slots/slot-kind.ts';
import { Keyring } from '../../../src/store/slots/slot-list.ts';
import { refusal, refused } from '../../refusal.ts';

const context = { storeId: 'a store', clock: systemClock, random: systemRandom };
const prepared = (request: SlotRequest) => prepareSlot(request, context);
const key = () => Buffer.alloc(32, 7);

describe('a new slot', () => {
  it('has a label of up to 512 characters', async () => {
    const labelled = (length: number) => prepared({ kind: 'raw', key: key(), label: 'l'.repeat(length) });
    expect((await labelled(512)).listed.label).toHaveLength(512);
    expect(await refused(labelled(513))).toEqual({
      kind: 'invalid',
      message: 'label must have at most 512 characters',
      field: 'label',
    });
  });

  it('has up to 16 KiB of a secret that is encrypted to a recipient, and is read back with them', async () => {
    const wrapped = (bytes: number) =>
      prepared({ kind: 'recipient', recipient: 'age1x', secret: key(), wrapped: Buffer.alloc(bytes, 1) });
    const { ref, bytes } = slotBlob((await wrapped(16 * 1024)).wrap(key(), 1));
    expect(parseSlot(ref.name, bytes, { file: 'slots/x' }).wrapped).toHaveLength(16 * 1024);
    expect(await refused(wrapped(16 * 1024 + 1))).toEqual({
      kind: 'invalid',
      message: 'the recipient is too long for a key slot',
      field: 'recipient',
    });
  });

  it('has 2 to 255 shares, of which 2 or more open it', () => {
    for (const [count, threshold] of [
      [2, 2],
      [255, 2],
      [255, 255],
    ] as const)
      checkShareCounts({ count, threshold });
    for (const count of [0, 1, 256, 2.5, Number.NaN])
      expect(refusal(() => checkShareCounts({ count, threshold: 2 }))).toMatchObject({ field: 'shares' });
    for (const threshold of [0, 1, 4])
      expect(refusal(() => checkShareCounts({ count: 3, threshold }))).toMatchObject({ field: 'threshold' });
    expect(refusal(() => checkShareCounts({ count: 3, threshold: 2.5 }))).toMatchObject({ field: 'shares' });
  });
});

describe('the root key in a slot', () => {
  const { keys, publicKey } = newSlotKeys(systemRandom);
  const slot = { id: '0123456789abcdef', kind: 'raw', created: '2026-01-01T00:00:00Z', publicKey } as const;
  const binding = { storeId: 'a store', generation: 1, slot };

  it('is not read with a key of low order, which everybody could have agreed on, or of another length', () => {
    const wrapped = wrapRootKey(key(), keys.pairingKey, binding);
    expect(unwrapRootKey(wrapped, keys, binding)).toEqual(key());
    for (const ephemeralKey of [Buffer.alloc(32), Buffer.alloc(31, 9), Buffer.alloc(33, 9)])
      expect(unwrapRootKey({ ...wrapped, ephemeralKey }, keys, binding)).toBeUndefined();
    expect(unwrapRootKey(wrapped, keys, { ...binding, generation: 2 })).toBeUndefined();
  });

  it('of another generation is not opened by a process that got only that of one', async () => {
    const keyring = Keyring.handedOver(slot.id, new RootKey(key(), 'a store', 1));
    const backend = { read: async () => Buffer.from('a slot') } as unknown as Backend;
    expect((await keyring.open(backend, 1)).generation).toBe(1);
    expect(await refused(keyring.open(backend, 2))).toMatchObject({ kind: 'sealed' });
    expect(refusal(() => keyring.listedSlot(whole))).toMatchObject({ kind: 'sealed' });
  });

  const whole = {
    ...slot,
    kdf: { name: 'hkdf-sha256', salt: Buffer.alloc(32) },
    sealedKeys: Buffer.alloc(80),
    rootKey: wrapRootKey(key(), keys.pairingKey, binding),
  } as const;
});
