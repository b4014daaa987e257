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
import { attempt, unavailable } from '../../ground/errors.ts';
import { type Environment, variable } from '../given.ts';
import { namesIn } from '../state-directory.ts';

/** Magic numbers of file systems in memory, as in statfs(2). */
const TMPFS = 0x01021994;
const RAMFS = 0x858458f6;
const OWNER_ONLY = 0o700;
const ANY_RIGHT_OF_OTHERS = 0o077;

/**
 * Creates a directory in memory, not on a disk, for this user only.
 * @param purpose word for the directory's name
 * @param onDisk whether a directory on disk may be used if none is in memory
 * @throws `unavailable` if there is no such place
 * @see docs/decisions/0151
 */
export function makeMemoryDirectory(
  environment: Environment,
  purpose: string,
  onDisk: boolean,
): { readonly path: string; remove(): void } {
  const base = memoryBase(environment) ?? (onDisk ? tmpdir() : undefined);
  if (base === undefined) {
    throw unavailable(
      'no in-memory file system for plaintext: neither XDG_RUNTIME_DIR nor /dev/shm is usable',
      {
        hint: 'use --on-disk to allow a temporary directory, which is removed afterwards',
      },
    );
  }
  const path = join(ownDirectory(base), `${purpose}-${ownName()}-${randomBytes(4).toString('hex')}`);
  mkdirSync(path, { mode: OWNER_ONLY });
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  return { path, remove };
}

/** Returns the directories that killed processes have left. */
export function leftovers(
  environment: Environment,
): readonly { readonly path: string; readonly purpose: string }[] {
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

/** Removes the directories of a purpose that killed processes have left, if they contain no work of the user. */
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
  return (
    attempt(() => [TMPFS, RAMFS].includes(statfsSync(path).type) && statSync(path).isDirectory()) === true
  );
}

/**
 * Returns the directory that is created once for all commands of this user. If any user may create directories there,
 * another user may have created the one of the usual name, and only they could remove it: then an unpredictable name is
 * used.
 */
function ownDirectory(base: string): string {
  const [present] = ownDirectories(base);
  if (present !== undefined) return present;
  const usual = join(base, OWN_DIRECTORY);
  if (lstatSync(usual, { throwIfNoEntry: false }) === undefined && isMade(usual)) return usual;
  // Another process may have created the usual one meanwhile.
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

/** Returns the existing directories of this user, the one of the usual name first. */
const ownDirectories = (base: string): readonly string[] =>
  [OWN_DIRECTORY, ...namesIn(base).filter(isOwnWithChance)]
    .map((name) => join(base, name))
    .filter((path) => isOwn(lstatSync(path, { throwIfNoEntry: false })));

const isOwn = (stats: Stats | undefined): boolean =>
  stats?.isDirectory() === true &&
  (process.getuid === undefined ||
    (stats.uid === process.getuid() && (stats.mode & ANY_RIGHT_OF_OTHERS) === 0));

/**
 * Returns the name for this process: its ID, its start time, and the namespace of the ID, so that it is not confused
 * with another process.
 */
const ownName = (): string => `${process.pid}-${beginOf(process.pid) ?? 0}-${idNamespace()}`;

function hasEnded(name: string): boolean {
  const [, pid = '', begin, namespace] = name.split('-');
  // In another container, the same ID is another process, which is not visible from here.
  if (namespace !== idNamespace()) return false;
  const now = beginOf(Number(pid));
  return now === undefined ? !isRunning(Number(pid)) : now !== begin;
}

/**
 * Returns the start time of a process, in clock ticks since boot (field 22 of `/proc/PID/stat`); undefined if it cannot
 * be read.
 */
const beginOf = (pid: number): string | undefined =>
  attempt(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  });

const idNamespace = (): string => attempt(() => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]) ?? '0';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
