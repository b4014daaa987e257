import { timingSafeEqual } from 'node:crypto';
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

/**
 * Accepts a hash computed by a client.
 * @throws `invalid` for a malformed hash, or one with a cost out of range
 */
export async function foreignHash(hash: string): Promise<PasswordHash> {
  const { requireBcrypt } = await import('./bcrypt.ts');
  requireBcrypt(hash);
  return { bcrypt: hash };
}

export async function hashPassword(password: string, random: Random): Promise<PasswordHash> {
  const salt = random.bytes(SALT_BYTES);
  const hash = await stretch(password, { ...COST, salt });
  return { ...COST, salt: salt.toString('base64'), hash: hash.toString('base64') };
}

/** Whether a password that matches a client's hash is the only one that does. */
export async function isUnambiguous(password: string): Promise<boolean> {
  const { isSeenWhole } = await import('./bcrypt.ts');
  return isSeenWhole(password);
}

/** Verifies a password. For an unknown user it takes the same time, and returns false. */
export async function isPassword(password: string, kept: PasswordHash | undefined): Promise<boolean> {
  if (kept !== undefined && isForeign(kept)) {
    const { isBcryptPassword } = await import('./bcrypt.ts');
    return isBcryptPassword(password, kept.bcrypt);
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
