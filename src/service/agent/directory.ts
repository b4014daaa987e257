import { hash } from 'node:crypto';
import { lstatSync, readdirSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { makeWithParents } from '../../ground/directories.ts';
import { attempt, placed, unavailable, unsupported } from '../../ground/errors.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { diskReason } from '../../store/backends/files/disk-errors.ts';
import { identityOf } from '../../store/backends/registry.ts';

/** Environment variables with the user's session directories. */
interface UserPlaces {
  /** `XDG_RUNTIME_DIR`. */
  readonly runtime?: string | undefined;
  /** `XDG_CACHE_HOME`. */
  readonly cache?: string | undefined;
  readonly home?: string | undefined;
}

/**
 * File names: socket for Coffer's commands, socket for Vault clients, lock that only one agent of a store holds, and
 * the mark that the user wants no agent.
 */
const SOCKET = 'agent.sock';
const API_SOCKET = 'api.sock';
const LOCK = 'lock';
const DECLINED = 'declined';
/** Directory with those of keyrings. */
const KEYRINGS = 'keyrings';
/** Time in milliseconds for which the mark is valid if the directory outlives the session. */
const DECLINED_MS = 12 * 3600 * 1000;

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const RIGHTS_OF_OTHERS = 0o077;
const WRITING_BY_OTHERS = 0o022;
/** Maximum length of a socket path, in bytes: 104 on macOS, including the final zero, and 108 on Linux. */
const MOST_SOCKET_BYTES = 103;
/** Part of that length reserved for names of sockets, and the slashes around the store's name. */
const SOCKET_NAME_BYTES = 16;

/**
 * Directory in which the agent of one store is found without any variable: each store has a directory of its own below
 * a directory of the user. Access control relies on these two directories, which only the user may enter: every use
 * checks that first.
 * @see docs/decisions/0142
 */
export class AgentDirectory {
  readonly path: string;
  readonly socket: string;
  readonly apiSocket: string;
  readonly lock: string;
  readonly #uid: number;

  private constructor(parent: string, identity: string, uid: number) {
    this.path = join(parent, nameIn(parent, identity));
    this.socket = join(this.path, SOCKET);
    this.apiSocket = join(this.path, API_SOCKET);
    this.lock = join(this.path, LOCK);
    this.#uid = uid;
  }

  /**
   * Returns the socket path of an agent protocol.
   * @param door its name
   */
  doorSocket(door: string): string {
    return join(this.path, `${door}.sock`);
  }

  /** Returns the directory for a store; undefined if there is no place for one, or the platform has no such users. */
  static of(store: Location, places: UserPlaces): AgentDirectory | undefined {
    return AgentDirectory.#named(identityOf(store), places);
  }

  /** Returns the directory for an agent that uses the keys of a server. */
  static ofServer(address: string, places: UserPlaces): AgentDirectory | undefined {
    return AgentDirectory.#named(`server ${address}`, places);
  }

  /** Returns the directory for the agent of a keyring, which is below one of all keyrings. */
  static ofKeyring(id: string, places: UserPlaces): AgentDirectory | undefined {
    return AgentDirectory.#named(id, places, KEYRINGS);
  }

  /** Returns the directories of all agents of keyrings that there may be. */
  static ofKeyrings(places: UserPlaces): readonly AgentDirectory[] {
    const own = ownParent(places);
    if (own === undefined) return [];
    const all = join(own.path, KEYRINGS);
    const isThere = statSync(all, { throwIfNoEntry: false })?.isDirectory() === true;
    return isThere ? readdirSync(all).map((name) => new AgentDirectory(all, name, own.uid)) : [];
  }

  static #named(identity: string, places: UserPlaces, below = ''): AgentDirectory | undefined {
    const own = ownParent(places);
    return own && new AgentDirectory(join(own.path, below), identity, own.uid);
  }

  /** Whether something may be listening. Costs one file system access if nothing is. */
  get isInUse(): boolean {
    // Also where it is in a home directory that this user may not search, as with "su".
    return attempt(() => lstatSync(this.socket).isSocket()) === true;
  }

  /** Whether the user has declined an agent in this session. */
  get isDeclined(): boolean {
    const saidAt = attempt(() => lstatSync(join(this.path, DECLINED)).mtimeMs);
    return saidAt !== undefined && Date.now() - saidAt < DECLINED_MS;
  }

  /**
   * Records that the user declines an agent.
   * @throws as `make`
   */
  decline(): void {
    this.make();
    writeFileSync(join(this.path, DECLINED), '', { mode: FILE_MODE });
  }

  /**
   * Checks the permissions.
   * @throws `unavailable` if other users could have created its files
   */
  verify(): void {
    const parent = dirname(this.path);
    this.#refuse(dirname(parent), statSync(dirname(parent)), WRITING_BY_OTHERS);
    for (const path of [parent, this.path]) this.#refuse(path, lstatSync(path), RIGHTS_OF_OTHERS);
  }

  /**
   * Creates missing directories.
   * @throws as `verify`; `unavailable` if they cannot be created; `unsupported` if the path of a socket would be too long
   */
  make(): void {
    if (Buffer.byteLength(this.socket) > MOST_SOCKET_BYTES) {
      throw unsupported(placed`socket path too long: ${{ file: this.socket }}`, {
        hint: 'set XDG_RUNTIME_DIR to a directory of yours with a short path and mode 700',
      });
    }
    try {
      makeWithParents(this.path, DIRECTORY_MODE);
    } catch (error) {
      const file = String((error as NodeJS.ErrnoException).path ?? this.path);
      throw unavailable(placed`cannot create the directory ${{ file }} of the agent: ${diskReason(error)}`, {
        hint: 'set XDG_RUNTIME_DIR to a directory that only you can access',
        cause: error,
      });
    }
    this.verify();
  }

  #refuse(path: string, stats: Stats, forbidden: number): void {
    const reason = !stats.isDirectory()
      ? 'is not a directory'
      : stats.uid !== this.#uid
        ? `belongs to user ${stats.uid}, you are user ${this.#uid}`
        : (stats.mode & forbidden) !== 0
          ? 'is open to other users'
          : undefined;
    if (reason === undefined) return;
    throw unavailable(placed`refusing to use the agent in ${{ file: path }}: it ${reason}`, {
      hint:
        reason === 'is open to other users'
          ? placed`check its contents, then run "chmod 700 ${{ file: path }}"`
          : 'find out which user created this path, then remove it',
    });
  }
}

/**
 * Returns a store's name for files and systemd units: unique, even if case is ignored. A hash is used only if the name
 * would be too long for sockets: loading the hash module would be a tenth of the cost of a command that uses an agent.
 */
function nameIn(parent: string, identity: string): string {
  const name = identity
    .replace(/[^a-z0-9./]/gu, (character) => Buffer.from(character).toString('hex').replaceAll(/../g, '_$&'))
    .replaceAll('/', '-');
  const room = MOST_SOCKET_BYTES - SOCKET_NAME_BYTES - Buffer.byteLength(parent);
  return name.length <= room ? name : hash('sha256', identity).slice(0, HASH_LENGTH);
}

const HASH_LENGTH = 16;

/**
 * Returns the parent directory and this user, if there are such: found like p11-kit does, the session's runtime
 * directory, else the user's cache directory.
 */
function ownParent({ runtime, cache, home }: UserPlaces): { path: string; uid: number } | undefined {
  const uid = process.geteuid?.();
  if (uid === undefined) return undefined;
  for (const directory of [runtime, `/run/user/${uid}`]) {
    if (directory === undefined || !isAbsolute(directory)) continue;
    const stats = statSync(directory, { throwIfNoEntry: false });
    if (stats?.isDirectory() && stats.uid === uid) return { path: join(directory, 'coffer'), uid };
  }
  const caches = cache ?? (home === undefined ? undefined : join(home, '.cache'));
  return caches === undefined || !isAbsolute(caches)
    ? undefined
    : { path: join(caches, 'coffer', 'run'), uid };
}
