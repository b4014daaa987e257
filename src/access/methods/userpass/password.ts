import { timingSafeEqual } from 'node:crypto';
import type { Random } from '../../../ground/random.ts';
import { keyEncryptionSecret } from '../../../store/slots/key-encryption.ts';

/** A password as it is kept: as it is hashed here, or as somebody else hashed it until its user has logged in. */
export type PasswordHash = Argon2idHash | BcryptHash;

/** `$2b$10$…`, of a client. */
interface BcryptHash {
  readonly bcrypt: string;
}

/** argon2id (RFC 9106), with what it was computed with. */
interface Argon2idHash {
  /** Base64. */
  readonly salt: string;
  readonly hash: string;
  readonly memoryKiB: number;
  readonly passes: number;
  readonly lanes: number;
}

/**
 * A fifth of what unlocking a store costs, because strangers have a server compute it: 19 MiB and two passes, the least that
 * OWASP recommends.
 * @see docs/decisions/0175
 */
const COST = { memoryKiB: 19 * 1024, passes: 2, lanes: 1 } as const;
const SALT_BYTES = 16;

export const isForeign = (kept: PasswordHash): kept is BcryptHash => 'bcrypt' in kept;

/** @param hash of a client. @throws `invalid` for what is no hash, or one of too little or too much work. */
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

/** Whether a password that fits a hash of somebody else is the one, and not just one of those that do. */
export async function isUnambiguous(password: string): Promise<boolean> {
  const { isSeenWhole } = await import('./bcrypt.ts');
  return isSeenWhole(password);
}

/** Whether a password is the one. For somebody who is not there it takes as long, and is never right. */
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
