import type * as Crypto from 'node:crypto';
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
