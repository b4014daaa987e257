import { hash } from 'node:crypto';
import { lstatSync, mkdirSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { makeWithParents } from '../../ground/directories.ts';
import { placed, unavailable, unsupported } from '../../ground/errors.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { identityOf } from '../../store/backends/registry.ts';

/** Variables of the user's environment that say where things are that live as long as a session. */
export interface UserPlaces {
  /** `XDG_RUNTIME_DIR`. */
  readonly runtime?: string | undefined;
  /** `XDG_CACHE_HOME`. */
  readonly cache?: string | undefined;
  readonly home?: string | undefined;
}

/** For our own commands; for programs of the Vault family; and what only one agent of a store holds. */
const SOCKET = 'agent.sock';
const API_SOCKET = 'api.sock';
const LOCK = 'lock';
const DECLINED = 'declined';
/** Where the place outlives the session, a no holds for so long. */
const DECLINED_MS = 12 * 3600 * 1000;

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const RIGHTS_OF_OTHERS = 0o077;
const WRITING_BY_OTHERS = 0o022;
/** macOS has room for 104 bytes with the final zero, Linux for 108. */
const MOST_SOCKET_BYTES = 103;
/** Of these as many are left to the names of sockets, and the slashes around the store's name. */
const SOCKET_NAME_BYTES = 16;

/**
 * Where the agent of one store is found, with no variable set: each store has a directory of its own below one of the user's.
 * What keeps others out is these two directories, which nobody but the user may enter: every use of them looks at that first.
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

  /** Where programs come in through a door. @param door its name. */
  doorSocket(door: string): string {
    return join(this.path, `${door}.sock`);
  }

  /** Undefined where there is no place for one, or the platform has no users of that kind. */
  static of(store: Location, places: UserPlaces): AgentDirectory | undefined {
    return AgentDirectory.#named(identityOf(store), places);
  }

  /** The same for an agent that uses the keys of a server. */
  static ofServer(address: string, places: UserPlaces): AgentDirectory | undefined {
    return AgentDirectory.#named(`server ${address}`, places);
  }

  static #named(identity: string, places: UserPlaces): AgentDirectory | undefined {
    const uid = process.geteuid?.();
    if (uid === undefined) return undefined;
    const parent = parentOf(places, uid);
    return parent === undefined ? undefined : new AgentDirectory(parent, identity, uid);
  }

  /** Whether something may listen there. Costs one look at the file system where nothing does. */
  get isInUse(): boolean {
    return lstatSync(this.socket, { throwIfNoEntry: false })?.isSocket() === true;
  }

  /** Whether the person of this session has said that they want no agent. */
  get isDeclined(): boolean {
    const saidAt = lstatSync(join(this.path, DECLINED), { throwIfNoEntry: false })?.mtimeMs;
    return saidAt !== undefined && Date.now() - saidAt < DECLINED_MS;
  }

  /** @throws as `make`. */
  decline(): void {
    this.make();
    writeFileSync(join(this.path, DECLINED), '', { mode: FILE_MODE });
  }

  /** @throws `unavailable` when others could have put there what is there. */
  verify(): void {
    const parent = dirname(this.path);
    this.#refuse(dirname(parent), statSync(dirname(parent)), WRITING_BY_OTHERS);
    for (const path of [parent, this.path]) this.#refuse(path, lstatSync(path), RIGHTS_OF_OTHERS);
  }

  /** Makes what is missing. @throws as `verify`, and `unsupported` when a socket there would have too long a name. */
  make(): void {
    if (Buffer.byteLength(this.socket) > MOST_SOCKET_BYTES) {
      throw unsupported(placed`${{ file: this.socket }} is too long for the name of a socket`, {
        hint: 'set XDG_RUNTIME_DIR to a directory of yours with a short name and mode 700',
      });
    }
    makeWithParents(dirname(this.path), DIRECTORY_MODE);
    try {
      mkdirSync(this.path, { mode: DIRECTORY_MODE });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    this.verify();
  }

  #refuse(path: string, stats: Stats, forbidden: number): void {
    const reason = !stats.isDirectory()
      ? 'is no directory'
      : stats.uid !== this.#uid
        ? `belongs to another user (uid ${stats.uid}, yours is ${this.#uid})`
        : (stats.mode & forbidden) !== 0
          ? 'is open to other users'
          : undefined;
    if (reason === undefined) return;
    throw unavailable(placed`${{ file: path }} ${reason}, so no agent is used there`, {
      hint:
        reason === 'is open to other users'
          ? placed`see what is in it, then run "chmod 700 ${{ file: path }}"`
          : 'find out who made it, and remove it',
    });
  }
}

/**
 * A store's name for files and units of systemd: no two stores have the same, also where case makes no difference. A hash is only for
 * those that leave sockets no room: the module that makes it is a tenth of what a command costs that asks an agent.
 */
function nameIn(parent: string, identity: string): string {
  const name = identity
    .replace(/[^a-z0-9./]/gu, (character) => Buffer.from(character).toString('hex').replaceAll(/../g, '_$&'))
    .replaceAll('/', '-');
  const room = MOST_SOCKET_BYTES - SOCKET_NAME_BYTES - Buffer.byteLength(parent);
  return name.length <= room ? name : hash('sha256', identity).slice(0, HASH_LENGTH);
}

const HASH_LENGTH = 16;

/** As p11-kit looks for it: where sessions have their things, else where the user keeps what can be made again. */
function parentOf({ runtime, cache, home }: UserPlaces, uid: number): string | undefined {
  for (const directory of [runtime, `/run/user/${uid}`]) {
    if (directory === undefined || !isAbsolute(directory)) continue;
    const stats = statSync(directory, { throwIfNoEntry: false });
    if (stats?.isDirectory() && stats.uid === uid) return join(directory, 'coffer');
  }
  const caches = cache ?? (home === undefined ? undefined : join(home, '.cache'));
  return caches === undefined || !isAbsolute(caches) ? undefined : join(caches, 'coffer', 'run');
}
