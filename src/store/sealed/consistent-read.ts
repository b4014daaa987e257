import type { Backend, Version } from '../backends/backend.ts';

const OPTIMISTIC_ATTEMPTS = 2;

/**
 * Runs `read` on one version of the store; again when another process commits meanwhile, and in the end with all
 * writers waiting. So a store that can only be read (a read-only disk) can be read all the same.
 */
export async function readConsistently<T>(
  backend: Backend,
  read: (version: Version) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < OPTIMISTIC_ATTEMPTS; attempt++) {
    const before = await backend.state();
    if (!before.settled) break;
    const outcome = await Promise.allSettled([read(before)]);
    const after = await backend.state();
    if (!after.settled || after.generation !== before.generation || after.revision !== before.revision)
      continue;
    if (outcome[0].status === 'rejected') throw outcome[0].reason;
    return outcome[0].value;
  }
  return backend.exclusive(({ version }) => read(version));
}
