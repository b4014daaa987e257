import { setTimeout as pause } from 'node:timers/promises';
import { invalid } from '../../../ground/errors.ts';

/** `$2b$10$`, 22 characters of salt, 31 of hash. */
const HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** As peers have it. Each step doubles the work. */
const LEAST_COST = 5;
const MOST_COST = 12;
/** Of the time, at most a fifth is for this, however many ask. */
const PAUSE_SHARE = 4;

/** @throws `invalid` in the words of peers for what is no hash, or one of too little or too much work. */
export function requireBcrypt(hash: string): void {
  const refuse = (message: string) => invalid(message, { field: 'password_hash' });
  const cost = HASH.exec(hash)?.[1];
  if (cost === undefined) throw refuse('password_hash is not a valid bcrypt hash');
  if (Number(cost) < LEAST_COST)
    throw refuse(`bcrypt cost of ${Number(cost)} is too low, want ${LEAST_COST} at minimum`);
  if (Number(cost) > MOST_COST)
    throw refuse(`bcrypt cost of ${Number(cost)} exceeds maximum cost of ${MOST_COST}`);
}

let latest: Promise<unknown> = Promise.resolve();

/**
 * Whether a password is the one of a hash. It is computed where all requests are answered, in slices of a tenth of a second; so
 * one after the other, with pauses for everybody else.
 * @see docs/decisions/0184
 */
export function isBcryptPassword(password: string, hash: string): Promise<boolean> {
  const mine = latest.then(async () => {
    const { compare } = await import('bcryptjs');
    const start = performance.now();
    const fits = await compare(password, hash);
    return { fits, took: performance.now() - start };
  });
  latest = mine.then(({ took }) => pause(took * PAUSE_SHARE)).catch(() => undefined);
  return mine.then(({ fits }) => fits);
}
