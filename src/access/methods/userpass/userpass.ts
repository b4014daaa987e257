/** Logins with a name and a password. */

import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../ground/clock.ts';
import { type CofferError, denied, invalid } from '../../../ground/errors.ts';
import type { Random } from '../../../ground/random.ts';
import type { Mount } from '../../../mounts/mounts.ts';
import type { ListOptions, Store } from '../../../store/store.ts';
import type { Access } from '../../access.ts';
import { Lockout } from '../../login/lockout.ts';
import type { LoginRole } from '../../login/login-token.ts';
import { isWithin } from '../../login/networks.ts';
import { RoleTable, type WriteOptions } from '../../login/role-table.ts';
import {
  changedSettings,
  NO_SETTINGS,
  settingsFrom,
  type TokenSettings,
} from '../../login/token-settings.ts';
import { Turns } from '../../login/turns.ts';
import type { IssuedToken } from '../../tokens.ts';
import { USERS } from './mount-type.ts';
import { foreignHash, hashPassword, isForeign, isPassword, type PasswordHash } from './password.ts';

interface User extends LoginRole {
  readonly password: PasswordHash;
}

/** A password that is to be kept: itself, or what a client hashed it to. */
export type NewPassword = { readonly plain: string } | { readonly hash: string };

interface Room {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

/** Shared by all mounts of a process. */
const turns = new Turns();
const lockouts = new WeakMap<Store, Lockout>();

/** The users of one mount. Names are in lower case. */
export class Userpass {
  readonly #room: Room;
  readonly #mount: Mount;
  readonly #users: RoleTable<User>;

  constructor(room: Room, mount: Mount) {
    this.#room = room;
    this.#mount = mount;
    this.#users = new RoleTable({ ...room, mount }, USERS);
  }

  list(options: ListOptions): Promise<readonly string[]> {
    return this.#users.list(options);
  }

  /** What tokens a user gets; undefined for one that is not there. */
  async read(name: string): Promise<TokenSettings | undefined> {
    return (await this.#users.read(id(name)))?.token;
  }

  /**
   * Makes or changes a user.
   * @throws `invalid` for a new one without a password, and for settings that can't be.
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
      throw invalid('must provide either password or password_hash', { field: 'password' });
    };
    await this.#users.write(id(name), changed, options);
  }

  #hashed(password: NewPassword): Promise<PasswordHash> {
    return 'hash' in password ? foreignHash(password.hash) : hashPassword(password.plain, this.#room.random);
  }

  /** As `write`, of a user that is there. @throws `invalid`. */
  async change(name: string, change: Partial<TokenSettings>, password?: NewPassword): Promise<void> {
    if ((await this.#users.read(id(name))) === undefined) throw noUser();
    await this.write(name, change, password, { missing: noUser });
  }

  /** Tokens of the user live until they end, and are not renewed. */
  remove(name: string): Promise<void> {
    return this.#users.remove(id(name));
  }

  /**
   * Lets a user in.
   * @param address from where the request came.
   * @throws `invalid` for a wrong name or password, which take the same time; `denied` for a locked one, or from elsewhere.
   */
  login(access: Access, name: string, password: string, address: string): Promise<IssuedToken> {
    return turns.take(`${this.#mount.uuid} ${id(name)}`, () => this.#login(access, name, password, address));
  }

  async #login(access: Access, name: string, password: string, address: string): Promise<IssuedToken> {
    const { store, clock } = this.#room;
    const mount = this.#mount;
    const lockout = lockoutOf(store);
    const known = await store.read(async (view) => ({
      user: await view.get<User>(this.#users.ref(id(name))),
      isLocked: await lockout.isLocked(view, mount, id(name), clock),
    }));
    if (known.isLocked) throw denied('permission denied');
    if (!(await isPassword(password, known.user?.password))) {
      if (known.user !== undefined) await lockout.failed(store, mount, id(name), clock);
      throw wrong();
    }
    const own = known.user && isForeign(known.user.password) && (await this.#hashed({ plain: password }));
    return access.tokens.login(async (tx) => {
      const user = await tx.get<User>(this.#users.ref(id(name)));
      // Somebody may have changed it, or deleted the user, while it was computed.
      if (user === undefined || !isDeepStrictEqual(user.password, known.user?.password)) throw wrong();
      const { token_bound_cidrs: networks } = user.token;
      if (networks.length > 0 && !isWithin(networks, address)) throw denied('permission denied');
      await lockout.succeeded(tx, mount, id(name));
      // Now that the password is at hand, somebody else's hash of it is wanted no longer.
      if (own) tx.put(this.#users.ref(id(name)), { ...user, password: own });
      return {
        mount,
        path: `${mount.path}/login/${id(name)}`,
        displayName: id(name),
        meta: { username: id(name) },
        settings: settingsFrom(user.token, address),
        role: this.#users.ref(id(name)),
        name: id(name),
        keepsPolicies: true,
      };
    });
  }
}

const id = (name: string): string => name.toLowerCase();

const noUser = (): CofferError => invalid('username does not exist', { field: 'name' });

const wrong = (): CofferError => invalid('invalid username or password');

function lockoutOf(store: Store): Lockout {
  const known = lockouts.get(store) ?? new Lockout();
  lockouts.set(store, known);
  return known;
}
