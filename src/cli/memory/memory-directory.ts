import { randomBytes } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { unavailable } from '../../ground/errors.ts';
import { type Environment, variable } from '../given.ts';

/** File systems that lie in memory, as statfs(2) numbers them. */
const TMPFS = 0x01021994;
const RAMFS = 0x858458f6;
const OWNER_ONLY = 0o700;
const ANY_RIGHT_OF_OTHERS = 0o077;

/** Directories in which plaintext may lie: each belongs to one process, and only this user may look into it. */
export interface MemoryDirectory {
  readonly path: string;
  remove(): void;
}

/** What a directory of a process that ran before is named, and whether that process still runs. */
export interface Leftover {
  readonly path: string;
  readonly purpose: string;
}

/**
 * A fresh directory that is in memory, not on a disk, for this user alone.
 * @param purpose a word that says whose it is.
 * @param onDisk Where nothing is in memory, a directory on the disk will do.
 * @throws `unavailable` where there is no such place.
 * @see docs/decisions/0151
 */
export function makeMemoryDirectory(
  environment: Environment,
  purpose: string,
  onDisk: boolean,
): MemoryDirectory {
  const base = memoryBase(environment) ?? (onDisk ? tmpdir() : undefined);
  if (base === undefined) {
    throw unavailable(
      'there is no place in memory for plaintext: neither XDG_RUNTIME_DIR nor /dev/shm is one',
      {
        hint: 'say --on-disk to have it in a temporary directory, which is removed afterwards',
      },
    );
  }
  const path = join(ownDirectory(base), `${purpose}-${ownName()}-${randomBytes(4).toString('hex')}`);
  mkdirSync(path, { mode: OWNER_ONLY });
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  return { path, remove };
}

/** What processes that were killed have left. */
export function leftovers(environment: Environment): readonly Leftover[] {
  return [memoryBase(environment), tmpdir()]
    .filter((base) => base !== undefined)
    .flatMap(ownDirectories)
    .flatMap((directory) => readdirSync(directory).map((name) => ({ directory, name })))
    .filter(({ name }) => hasEnded(name))
    .map(({ directory, name }) => ({
      path: join(directory, name),
      purpose: name.slice(0, name.indexOf('-')),
    }));
}

/** Removes what killed processes of a purpose have left, where nobody's work is in it. */
export function removeLeftovers(environment: Environment, purpose: string): void {
  for (const leftover of leftovers(environment)) {
    if (leftover.purpose === purpose) rmSync(leftover.path, { recursive: true, force: true });
  }
}

const OWN_DIRECTORY = `coffer-${process.getuid?.() ?? userInfo().username}`;

const CHANCE_BYTES = 8;
const CHANCE = new RegExp(`^-[0-9a-f]{${2 * CHANCE_BYTES}}$`);

const isOwnWithChance = (name: string): boolean =>
  name.startsWith(OWN_DIRECTORY) && CHANCE.test(name.slice(OWN_DIRECTORY.length));

function memoryBase(environment: Environment): string | undefined {
  const runtime = variable(environment, 'XDG_RUNTIME_DIR');
  return [runtime, '/dev/shm'].find((path) => path !== undefined && isInMemory(path));
}

function isInMemory(path: string): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return [TMPFS, RAMFS].includes(statfsSync(path).type) && statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Made once for all that this user's commands put there. Where anybody may make directories, another user may have made the one of the
 * usual name, and only they could remove it: then it is one of a name that nobody foresees.
 */
function ownDirectory(base: string): string {
  const [present] = ownDirectories(base);
  if (present !== undefined) return present;
  const usual = join(base, OWN_DIRECTORY);
  if (lstatSync(usual, { throwIfNoEntry: false }) === undefined && isMade(usual)) return usual;
  // Another process may have made the usual one meanwhile.
  if (isOwn(lstatSync(usual, { throwIfNoEntry: false }))) return usual;
  const path = `${usual}-${randomBytes(CHANCE_BYTES).toString('hex')}`;
  mkdirSync(path, { mode: OWNER_ONLY });
  return path;
}

function isMade(path: string): boolean {
  try {
    mkdirSync(path, { mode: OWNER_ONLY });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** Those of this user that exist, the one of the usual name first. */
const ownDirectories = (base: string): readonly string[] =>
  [OWN_DIRECTORY, ...namesIn(base).filter(isOwnWithChance)]
    .map((name) => join(base, name))
    .filter((path) => isOwn(lstatSync(path, { throwIfNoEntry: false })));

/** Of a directory that others share, some let nobody list it. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

const isOwn = (stats: Stats | undefined): boolean =>
  stats?.isDirectory() === true &&
  (process.getuid === undefined ||
    (stats.uid === process.getuid() && (stats.mode & ANY_RIGHT_OF_OTHERS) === 0));

/** Of this process: its id, when it began, and the world in which the id means it, so that no other is taken for it. */
const ownName = (): string => `${process.pid}-${beginOf(process.pid) ?? 0}-${idNamespace()}`;

function hasEnded(name: string): boolean {
  const [, pid = '', begin, namespace] = name.split('-');
  // In another container the same number is another process, which can't be seen from here.
  if (namespace !== idNamespace()) return false;
  const now = beginOf(Number(pid));
  return now === undefined ? !isRunning(Number(pid)) : now !== begin;
}

/** When a process began, in ticks since the machine did (field 22 of `/proc/PID/stat`); undefined where that can't be read. */
function beginOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function idNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
