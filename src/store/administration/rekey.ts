import { wipe } from '../../ground/bytes.ts';
import { type Random, systemRandom } from '../../ground/random.ts';
import type { Blob } from '../backends/backend.ts';
import type { OnFile } from '../backends/whole-store.ts';
import { ROOT_KEY_BYTES, RootKey } from '../root-key.ts';
import type { SealedStore } from '../sealed/sealed-store.ts';
import { slotBlob } from '../slots/slot-file.ts';
import { wrapRootKey } from '../slots/slot-keys.ts';
import type { Finding } from './status.ts';
import type { SoundSlot } from './survey.ts';
import { type DamageOptions, sourceOf, verifiedBlobs } from './verified.ts';

interface RekeyOptions extends DamageOptions {
  /** Called after each file with the number of files read and their total. */
  readonly onProgress?: OnFile;
  readonly random?: Random;
}

interface RekeySummary {
  /** Number of files resealed. */
  readonly files: number;
  /** Damaged or missing files that were dropped. */
  readonly leftOut: readonly Finding[];
}

/**
 * Replaces the root key and reseals everything. Every slot keeps its secret and its pairing key. An attacker who has
 * the old root key cannot read later data, but could do the same as this function: rekey, with a root key of their own,
 * the slots that exist then. Only slots with new secrets prevent that (docs/threat-model.md). Writers wait meanwhile,
 * readers do not. If the process is killed, the store is unchanged or completely rekeyed, and the next writer removes
 * the rest.
 * @throws `DamageError` naming damaged or missing files; nothing is changed then
 */
export async function rekey(store: SealedStore, options: RekeyOptions = {}): Promise<RekeySummary> {
  store.refuseClosed();
  const { backend, keyring } = store;
  return backend.exclusive(async (session) => {
    const source = await sourceOf(backend, keyring, session.version.generation, options.onProgress);
    const rootKey = (options.random ?? systemRandom).bytes(ROOT_KEY_BYTES);
    const fresh = new RootKey(rootKey, store.id, source.root.generation + 1);
    const damage = { ...options, isFinal: true } as const;
    const summary = { files: 0, leftOut: [] as Finding[] };
    async function* sealAgain(): AsyncGenerator<Blob> {
      for await (const { opened, slot } of verifiedBlobs(source, summary.leftOut, damage)) {
        if (slot !== undefined) yield wrapAgain(rootKey, fresh, slot);
        else {
          yield fresh.seal(opened.identity, opened.json);
          summary.files++;
        }
      }
    }
    try {
      await session.replaceGeneration(sealAgain());
    } finally {
      wipe(rootKey);
    }
    // Read the root key from the slot as every other command does, which also proves that the slot works.
    await keyring.root(backend, fresh.generation);
    return summary;
  });
}

function wrapAgain(rootKey: Uint8Array, fresh: RootKey, { slot, listed }: SoundSlot): Blob {
  // Wrap it for the listed public key, which only a holder of the old root key can have written.
  const wrapped = wrapRootKey(rootKey, listed.pairingKey, {
    storeId: fresh.storeId,
    generation: fresh.generation,
    slot: listed,
  });
  return slotBlob({ ...slot, rootKey: wrapped });
}
