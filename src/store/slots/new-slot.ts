import { wipe } from '../../ground/bytes.ts';
import { type Clock, printGoTime } from '../../ground/clock.ts';
import { invalid } from '../../ground/errors.ts';
import type { Random } from '../../ground/random.ts';
import { keyEncryptionSecret, newKdf, type SlotSecret } from './key-encryption.ts';
import { checkShareCounts, splitNewSecret } from './shares.ts';
import { newSlotKeys, type Slot, type SlotIdentity, sealSlotKeys, wrapRootKey } from './slot-keys.ts';
import { MAX_WRAPPED_BYTES, type SlotRequest } from './slot-kind.ts';
import { commandSecret, keyFileSecret, passphraseSecret, rawKeySecret } from './slot-secret.ts';

const ID_BYTES = 8;
/** Maximum length of a label, in characters; every list of slots shows labels. */
const MAX_LABEL_LENGTH = 512;

/** Context for creating slots. */
interface SlotContext {
  readonly storeId: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Slot in which no root key is wrapped yet. */
/**
 * Creates a slot's own keys and seals them under its secret. Stretching a passphrase takes about 0.1 s, so this is done
 * before the write lock is taken.
 * @throws `invalid` for an impossible secret
 */
export async function prepareSlot(request: SlotRequest, context: SlotContext) {
  if ((request.label?.length ?? 0) > MAX_LABEL_LENGTH) {
    throw invalid(`label must have at most ${MAX_LABEL_LENGTH} characters`, { field: 'label' });
  }
  const id = context.random.bytes(ID_BYTES).toString('hex');
  const { secret, shareTexts } = await secretOf(request, id, context.random);
  const { keys, publicKey } = newSlotKeys(context.random);
  const identity: SlotIdentity = {
    id,
    kind: request.kind,
    created: printGoTime(context.clock.now()),
    shares: request.kind === 'shares' ? { count: request.count, threshold: request.threshold } : undefined,
    publicKey,
  };
  const kdf = newKdf(secret.kind, context.random);
  const sealingSecret = await keyEncryptionSecret(kdf, secret);
  const sealedKeys = sealSlotKeys(keys, sealingSecret, { kdf, storeId: context.storeId, slot: identity });
  wipe(sealingSecret, secret.bytes);
  const label = request.label ?? '';
  const { recipient, wrapped } = request.kind === 'recipient' ? request : {};
  const { publicKey: _, ...summary } = { ...identity, label, recipient };
  return {
    listed: { ...identity, label, recipient, pairingKey: keys.pairingKey },
    created: { ...summary, shareTexts },
    /** Wraps the root key of a generation, which completes the slot. */
    wrap: (rootKey: Uint8Array, generation: number): Slot => ({
      ...identity,
      kdf,
      sealedKeys,
      rootKey: wrapRootKey(rootKey, keys.pairingKey, {
        storeId: context.storeId,
        generation,
        slot: identity,
      }),
      wrapped: wrapped && Buffer.from(wrapped),
    }),
  };
}

async function secretOf(
  request: SlotRequest,
  slotId: string,
  random: Random,
): Promise<{ secret: SlotSecret; shareTexts?: string[] }> {
  switch (request.kind) {
    case 'passphrase':
      return { secret: passphraseSecret(request.passphrase) };
    case 'key-file':
      return { secret: keyFileSecret(request.content) };
    case 'raw':
      return { secret: rawKeySecret(request.key) };
    case 'command':
      return { secret: commandSecret(request.output) };
    case 'shares':
      checkShareCounts(request);
      return splitNewSecret(slotId, request, random);
    case 'recipient':
      if (request.wrapped.length <= MAX_WRAPPED_BYTES) return { secret: rawKeySecret(request.secret) };
      throw invalid('the recipient is too long for a key slot', { field: 'recipient' });
  }
}
