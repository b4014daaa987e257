import type * as Crypto from 'node:crypto';
import type * as KeyEncryption from '../src/store/slots/key-encryption.ts';
import { isLong } from './long.ts';

type Argon2 = typeof Crypto.argon2;

/** What was asked of argon2id so far, in KiB times passes, and how often. */
export const asked = { work: 0, times: 0 };

/**
 * `node:crypto` for tests that are about something else than how hard argon2id is: it notes the work that it is asked for, and does
 * the least (all of it in the long proof). For what runs in the process of the test alone, because any other one stretches in earnest:
 *
 *     vi.mock('node:crypto', async (original) =>
 *       (await import('./light-argon2.ts')).withLightArgon2(await original()),
 *     );
 */
export function withLightArgon2(crypto: typeof Crypto): typeof Crypto {
  const argon2 = ((algorithm, parameters, done) => {
    asked.work += parameters.memory * parameters.passes;
    asked.times++;
    const { parallelism } = parameters;
    const least = isLong ? {} : { memory: 8 * parallelism, passes: 1 };
    crypto.argon2(algorithm, { ...parameters, ...least }, done);
  }) as Argon2;
  return { ...crypto, argon2 };
}

/**
 * `key-encryption.ts` for tests whose stores other processes open by a passphrase: new slots are stretched with the least that there
 * is, as their files say (with all of it in the long proof).
 *
 *     vi.mock('../src/store/slots/key-encryption.ts', async (original) =>
 *       (await import('./light-argon2.ts')).withLightSlots(await original()),
 *     );
 */
export function withLightSlots(module: typeof KeyEncryption): typeof KeyEncryption {
  const newKdf: typeof KeyEncryption.newKdf = (kind, random) => {
    const kdf = module.newKdf(kind, random);
    if (isLong || kdf.name !== 'argon2id') return kdf;
    return { ...kdf, memoryKiB: 8 * kdf.lanes, passes: 1 };
  };
  return { ...module, newKdf };
}
