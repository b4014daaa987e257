import { timingSafeEqual } from 'node:crypto';
import { invalid, ownWords } from '../../../ground/errors.ts';
import type { Random } from '../../../ground/random.ts';
import { keyEncryptionSecret } from '../../../store/slots/key-encryption.ts';

/** Stored password hash: computed here, or by a client until its user has logged in. */
export type PasswordHash = Argon2idHash | BcryptHash;

/** Client's hash, `$2b$10$…`. */
interface BcryptHash {
  readonly bcrypt: string;
}

/** argon2id hash (RFC 9106), with its parameters. */
interface Argon2idHash {
  /** Base64. */
  readonly salt: string;
  readonly hash: string;
  readonly memoryKiB: number;
  readonly passes: number;
  readonly lanes: number;
}

/**
 * Parameters that cost a fifth of unlocking a store, because unauthenticated clients make a server compute it: 19 MiB
 * and two passes, the minimum that OWASP recommends.
 * @see docs/decisions/0175
 */
const COST = { memoryKiB: 19 * 1024, passes: 2, lanes: 1 } as const;
const SALT_BYTES = 16;

export const isForeign = (kept: PasswordHash): kept is BcryptHash => 'bcrypt' in kept;

export async function hashPassword(password: string, random: Random): Promise<PasswordHash> {
  const salt = random.bytes(SALT_BYTES);
  const hash = await stretch(password, { ...COST, salt });
  return { ...COST, salt: salt.toString('base64'), hash: hash.toString('base64') };
}

/**
 * Verifies a password. For an unknown user it takes the same time, and returns false. A hash of bcrypt is computed on the
 * main thread, in slices of a tenth of a second: the caller queues for it.
 * @see docs/decisions/0184
 */
export async function isPassword(password: string, kept: PasswordHash | undefined): Promise<boolean> {
  if (kept !== undefined && isForeign(kept)) {
    const { compare } = await import('bcryptjs');
    return compare(password, kept.bcrypt);
  }
  const { salt, hash, ...cost } = kept ?? { ...COST, salt: NOBODYS, hash: NOBODYS };
  const computed = await stretch(password, { ...cost, salt: Buffer.from(salt, 'base64') });
  const wanted = Buffer.from(hash, 'base64');
  return computed.length === wanted.length && timingSafeEqual(computed, wanted) && kept !== undefined;
}

const NOBODYS = Buffer.alloc(SALT_BYTES).toString('base64');

type Cost = Pick<Argon2idHash, 'memoryKiB' | 'passes' | 'lanes'> & { readonly salt: Buffer };

const stretch = (password: string, cost: Cost): Promise<Buffer> =>
  keyEncryptionSecret({ name: 'argon2id', ...cost }, { kind: 'passphrase', bytes: Buffer.from(password) });

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

/** Number of password bytes that bcrypt uses, including a final NUL; it repeats a shorter key up to this length. */
const SEEN_BYTES = 72;

/**
 * Whether no other password has the same hash: bcrypt ignores everything after 72 bytes, and a NUL may look like the
 * start of a repetition.
 */
export const isSeenWhole = (password: string): boolean =>
  !password.includes('\0') && Buffer.byteLength(password) < SEEN_BYTES;
