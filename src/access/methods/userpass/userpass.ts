import { timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../ground/clock.ts';
import { type CofferError, denied, invalid, ownWords } from '../../../ground/errors.ts';
import { pause } from '../../../ground/pause.ts';
import type { Random } from '../../../ground/random.ts';
import type { Mount } from '../../../mounts/mount.ts';
import { keyEncryptionSecret } from '../../../store/slots/key-encryption.ts';
import type { ListOptions, Store } from '../../../store/store.ts';
import type { Access } from '../../access.ts';
import { lockoutOf } from '../../login/lockout.ts';
import type { LoginRole } from '../../login/login-token.ts';
import { requireWithin, sourceOf } from '../../login/networks.ts';
import { RoleTable, type WriteOptions } from '../../login/role-table.ts';
import {
  changedSettings,
  NO_SETTINGS,
  settingsFrom,
  type TokenSettings,
} from '../../login/token-settings.ts';
import { type Claim, Crowded, LoginTurns } from '../../login/turns.ts';
import type { IssuedToken } from '../../tokens.ts';
import { USERS } from './mount-type.ts';

/** Stored password hash: computed here, or by a client until its user has logged in. */
type PasswordHash = Argon2idHash | BcryptHash;

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

const isForeign = (kept: PasswordHash): kept is BcryptHash => 'bcrypt' in kept;

async function hashPassword(password: string, random: Random): Promise<PasswordHash> {
  const salt = random.bytes(SALT_BYTES);
  const hash = await stretch(password, { ...COST, salt });
  return { ...COST, salt: salt.toString('base64'), hash: hash.toString('base64') };
}

/**
 * Verifies a password. For an unknown user it takes the same time, and returns false. A hash of bcrypt is computed on
 * the main thread, in slices of a tenth of a second: the caller queues for it.
 * @see docs/decisions/0184
 */
async function isPassword(password: string, kept: PasswordHash | undefined): Promise<boolean> {
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
const isSeenWhole = (password: string): boolean =>
  !password.includes('\0') && Buffer.byteLength(password) < SEEN_BYTES;

/** Login method with user name and password. */

interface User extends LoginRole {
  readonly password: PasswordHash;
}

/** New password: plaintext, or a hash computed by the client. */
export type NewPassword = { readonly plain: string } | { readonly hash: string };

interface UserpassPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

const REFUSAL = ownWords('too many logins at once');
/**
 * Pause after a bcrypt computation, in multiples of its duration: bcrypt takes at most a fifth of the process's time.
 */
const PAUSES_PER_WORK = 4;

/**
 * Queues shared by all mounts of a process. Two argon2id computations run at once, on threads that also read and write
 * files; bcrypt runs on the main thread, so it has a separate queue that does not delay the others.
 */
const turns = {
  own: new LoginTurns({ refusal: REFUSAL, atOnce: 2, most: 400, mostOfOne: 100 }),
  foreign: new LoginTurns({
    refusal: REFUSAL,
    atOnce: 1,
    most: 200,
    mostOfOne: 50,
    rest: (tookMs) => pause(tookMs * PAUSES_PER_WORK),
  }),
} as const;

/** Login attempt. */
interface PasswordAttempt {
  readonly name: string;
  readonly password: string;
  readonly claim: Claim;
}

/** Users of one mount. Names are in lower case. */
export class Userpass {
  readonly #room: UserpassPorts;
  readonly #mount: Mount;
  readonly #users: RoleTable<User>;

  constructor(room: UserpassPorts, mount: Mount) {
    this.#room = room;
    this.#mount = mount;
    this.#users = new RoleTable({ ...room, mount }, USERS);
  }

  list(options: ListOptions): Promise<readonly string[]> {
    return this.#users.list(options);
  }

  /** Reads the token settings of a user; undefined if the user does not exist. */
  async read(name: string): Promise<TokenSettings | undefined> {
    return (await this.#users.read(id(name)))?.token;
  }

  /**
   * Creates or changes a user.
   * @throws `invalid` for a new user without a password, and for impossible settings
   */
  async write(
    name: string,
    change: Partial<TokenSettings>,
    password?: NewPassword,
    options?: WriteOptions,
  ): Promise<void> {
    const kept = password && (await this.#hashed(password));
    const changed = (before: User | undefined): User => {
      const hash = kept ?? before?.password;
      if (hash !== undefined) {
        return { password: hash, token: changedSettings(before?.token ?? NO_SETTINGS, change) };
      }
      throw invalid(ownWords('must provide either password or password_hash'), { field: 'password' });
    };
    await this.#users.write(id(name), changed, options);
  }

  async #hashed(password: NewPassword): Promise<PasswordHash> {
    if ('plain' in password) return hashPassword(password.plain, this.#room.random);
    requireBcrypt(password.hash);
    return { bcrypt: password.hash };
  }

  /**
   * Changes an existing user, like `write`.
   * @throws `invalid`
   */
  async change(name: string, change: Partial<TokenSettings>, password?: NewPassword): Promise<void> {
    if ((await this.#users.read(id(name))) === undefined) throw noUser();
    await this.write(name, change, password, { missing: noUser });
  }

  /** Deletes a user. Existing tokens stay valid until they expire, and cannot be renewed. */
  remove(name: string): Promise<void> {
    return this.#users.remove(id(name));
  }

  /**
   * Logs a user in.
   * @param address client address
   * @throws `invalid` for a wrong name or password, which take the same time; `denied` for a locked name, or from a
   * disallowed address; `unavailable` if too many logins come from that address at once
   */
  async login(access: Access, name: string, password: string, address: string): Promise<IssuedToken> {
    const mount = this.#mount;
    const claim = { source: sourceOf(address), name: `${mount.uuid} ${id(name)}` };
    const proven = await this.#prove({ name: id(name), password, claim });
    const own = await this.#ownHash(proven, password, claim);
    const ref = this.#users.ref(id(name));
    return access.tokens.login(async (tx) => {
      const user = await tx.get<User>(ref);
      // The password may have been changed, or the user deleted, while the hash was computed.
      if (user === undefined || !isDeepStrictEqual(user.password, proven)) throw wrong();
      requireWithin(user.token.token_bound_cidrs, address);
      await lockoutOf(this.#room.store, this.#room.clock).succeeded(tx, mount, id(name));
      // The password itself is known only at a login, so an imported bcrypt hash is replaced by our own hash now.
      if (own) tx.put(ref, { ...user, password: own });
      return {
        mount,
        path: `${mount.path}/login/${id(name)}`,
        displayName: id(name),
        meta: { username: id(name) },
        settings: settingsFrom(user.token, address),
        role: ref,
        name: id(name),
        keepsPolicies: true,
      };
    });
  }

  /**
   * Verifies the password.
   * @returns the hash that it was compared with
   */
  async #prove(attempt: PasswordAttempt): Promise<PasswordHash> {
    for (;;) {
      const row = rowOf(await this.#users.read(attempt.name));
      const proven = await turns[row].take(attempt.claim, () => this.#judge(attempt, row));
      if (proven !== 'in another row') return proven;
    }
  }

  /** Verifies the password, unless the user has got another type of hash while the attempt was queued. */
  async #judge(
    { name, password }: PasswordAttempt,
    row: keyof typeof turns,
  ): Promise<PasswordHash | 'in another row'> {
    const { store, clock } = this.#room;
    const mount = this.#mount;
    const lockout = lockoutOf(store, clock);
    const standingIn = lockout.recall(mount, name);
    const { user, standing } = await store.read(async (view) => {
      const found = await view.get<User>(this.#users.ref(name));
      return { user: found, standing: await standingIn(view, found !== undefined) };
    });
    if (rowOf(user) !== row) return 'in another row';
    if (standing === 'locked here') throw denied(ownWords('permission denied'));
    const isRight = await isPassword(password, user?.password);
    if (isRight && user !== undefined && standing === 'open') return user.password;
    if (!isRight) lockout.failed({ mount, name, isThere: user !== undefined });
    throw wrong();
  }

  /** Computes our own hash in place of a bcrypt hash that was imported; undefined if that one stays. */
  async #ownHash(proven: PasswordHash, password: string, claim: Claim): Promise<PasswordHash | undefined> {
    if (!isForeign(proven) || !isSeenWhole(password)) return undefined;
    try {
      return await turns.own.take(claim, () => this.#hashed({ plain: password }));
    } catch (error) {
      // Try again at the next login.
      if (error instanceof Crowded) return undefined;
      throw error;
    }
  }
}

const rowOf = (user: User | undefined): keyof typeof turns =>
  user !== undefined && isForeign(user.password) ? 'foreign' : 'own';

const id = (name: string): string => name.toLowerCase();

const noUser = (): CofferError => invalid(ownWords('username does not exist'), { field: 'name' });

const wrong = (): CofferError => invalid(ownWords('invalid username or password'));
