import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';

/** `$2b$10$`, 22 characters of salt, 31 of hash. */
const HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** Cost range, the same as in Vault. Each step doubles the work. */
const LEAST_COST = 5;
const MOST_COST = 12;

/**
 * Checks a bcrypt hash.
 * @throws `invalid` with Vault's messages for a malformed hash, or one with a cost out of range
 */
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
 * Verifies a password against a hash. It is computed on the main thread, in slices of a tenth of a second: the caller
 * queues for it.
 * @see docs/decisions/0184
 */
export async function isBcryptPassword(password: string, hash: string): Promise<boolean> {
  const { compare } = await import('bcryptjs');
  return compare(password, hash);
}

/** Number of password bytes that bcrypt uses, including a final NUL; it repeats a shorter key up to this length. */
const SEEN_BYTES = 72;

/**
 * Whether no other password has the same hash: bcrypt ignores everything after 72 bytes, and a NUL may look like the
 * start of a repetition.
 */
export const isSeenWhole = (password: string): boolean =>
  !password.includes('\0') && Buffer.byteLength(password) < SEEN_BYTES;
