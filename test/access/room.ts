import { Access } from '../../src/access/access.ts';
import type { TokenRequest } from '../../src/access/token-request.ts';
import { CofferError, type ErrorKind } from '../../src/ground/errors.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { memoryStore } from '../store/memory-store.ts';

/** A clock that only moves when told to. */
export class FakeClock {
  ms = Date.UTC(2026, 0, 2, 3, 4, 5);
  now(): number {
    return this.ms;
  }
  /** @param seconds */
  pass(seconds: number): void {
    this.ms += seconds * 1000;
  }
}

export interface Room {
  readonly store: SealedStore;
  readonly clock: FakeClock;
  readonly access: Access;
}

/** An access room over a fresh store in memory. */
export async function openRoom(): Promise<Room> {
  const store = await memoryStore();
  const clock = new FakeClock();
  return { store, clock, access: new Access({ store, clock, random: systemRandom }) };
}

/** A request for a token of the policy `app`, but for what is given. */
export const tokenRequest = (wanted: Partial<TokenRequest> = {}): TokenRequest => ({
  policies: ['app'],
  noDefaultPolicy: false,
  ttl: 0,
  explicitMaxTtl: 0,
  period: 0,
  renewable: true,
  numUses: 0,
  orphan: 'no',
  displayName: '',
  meta: null,
  id: '',
  path: 'auth/token/create',
  ...wanted,
});

/** Kind and text of the error that `run` ends with. */
export async function failureOf(run: () => unknown): Promise<[ErrorKind, string] | 'none'> {
  try {
    await run();
  } catch (error) {
    if (error instanceof CofferError) return [error.kind, error.message];
    throw error;
  }
  return 'none';
}
