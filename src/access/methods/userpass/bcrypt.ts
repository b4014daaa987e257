import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';

/** `$2b$10$`, 22 characters of salt, 31 of hash. */
const HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** As peers have it. Each step doubles the work. */
const LEAST_COST = 5;
const MOST_COST = 12;

/** @throws `invalid` in the words of peers for what is no hash, or one of too little or too much work. */
export function requireBcrypt(hash: string): void {
  const refuse = (message: string) => invalid(message, { field: 'password_hash' });
  const cost = HASH.exec(hash)?.[1];
  if (cost === undefined) throw refuse(ownWords('password_hash is not a valid bcrypt hash'));
  if (Number(cost) < LEAST_COST)
    throw refuse(`bcrypt cost of ${Number(cost)} is too low, want ${LEAST_COST} at minimum`);
  if (Number(cost) > MOST_COST)
    throw refuse(`bcrypt cost of ${Number(cost)} exceeds maximum cost of ${MOST_COST}`);
}

/**
 * Whether a password is the one of a hash. It is computed where all requests are answered, in slices of a tenth of a second: whoever
 * asks has a turn for it.
 * @see docs/decisions/0184
 */
export async function isBcryptPassword(password: string, hash: string): Promise<boolean> {
  const { compare } = await import('bcryptjs');
  return compare(password, hash);
}

/** What bcrypt looks at of a password, with the NUL that it puts behind it; a shorter key is repeated up to there. */
const SEEN_BYTES = 72;

/**
 * Whether no other text has the same hash: bcrypt sees nothing of what is behind 72 bytes, and what is behind a NUL may look like a
 * repetition.
 */
export const isSeenWhole = (password: string): boolean =>
  !password.includes('\0') && Buffer.byteLength(password) < SEEN_BYTES;
