import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  openSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { move } from '../../ground/directories.ts';
import { CofferError, exists, failingAs, invalid, throwing, unconfirmed } from '../../ground/errors.ts';
import { answered, turn } from '../../ground/pause.ts';
import { diskReason, errorCode } from '../../store/backends/files/disk-errors.ts';
import type { PlainFile } from '../../transit/envelope/ports.ts';
import { type Given, textOption } from '../given.ts';
import { FORCE, OUT } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { writeWhole, writeWholeLater } from '../terminal/streams.ts';
import { FILE_REASONS, homeHint } from './in-file.ts';

const OWNER_ONLY = 0o600;
const MODE_BITS = 0o7777;

/** Output file that appears under its name only once it is complete. */
interface OutFile {
  write(data: string | Uint8Array): void;
  /** Same as `write`, but asynchronous; `data` must not change meanwhile. */
  writeLater(data: Uint8Array): Promise<void>;
  /** File for callers with their own system calls; undefined if it is not a regular file. */
  readonly file?: PlainFile;
  /**
   * Makes the file durable and gives it its name, which replaces an old file if that is allowed. Does nothing after a
   * signal: Ctrl-C also ends the process that writes to a pipe, and its end must not be taken for the end of the data.
   * @param last called right before; if it throws, everything remains as before
   */
  commit(last?: () => void): Promise<void>;
  /** Discards the written data; an old file remains. Does nothing after `commit`. */
  abort(): void;
}

/** Path to write to, and whether an existing file may be replaced. */
export interface OutPlace {
  readonly path: string;
  readonly replace: boolean;
  /** Mode of a new file, reduced by the umask; by default only the owner has access. */
  readonly mode?: number;
  /** Status of the replaced file, if the new one gets its owner and mode. */
  readonly like?: Stats;
  /** Option that named it, for errors; absent if there is none, as for a file next to a named one. */
  readonly field?: string | undefined;
}

/** Part of OutPlace used in error messages. */
type NamedOutput = Pick<OutPlace, 'path' | 'field'>;

/** Paths of standard streams and file descriptors, which the parent process opened on purpose. */
const OWN_DESCRIPTOR = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/** Whether a regular file exists. Writing to a device, a pipe or standard output overwrites nothing. */
const isFileThere = (path: string): boolean =>
  !OWN_DESCRIPTOR.test(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/**
 * Decides, before anything is unlocked or done, whether existing files may be replaced: only with `--force`, with
 * `--yes` or after confirmation on the terminal.
 * @param force whether an option other than `--yes` allows it
 * @param field option that named them, for errors
 * @throws `exists` if one exists and may not be replaced
 * @see docs/decisions/0155
 */
export async function mayReplace(
  session: Session,
  paths: readonly string[],
  force: boolean,
  field?: string,
): Promise<boolean> {
  if (force || session.settings.yes) return true;
  const there = paths.filter((path) => withPlainErrors({ path, field }, () => isFileThere(path)));
  const [first, ...others] = there;
  if (first === undefined) return false;
  if (!session.prompts.available()) throw alreadyThere(first);
  const what = others.length === 0 ? first : `${first} and ${others.length} more`;
  // The error says that nothing was done.
  const isMeant = await session.prompts.confirm(`Overwrite ${what}? The current contents will be lost.`);
  if (!isMeant) throw alreadyThere(first);
  return true;
}

/**
 * Returns the place of `--out FILE`; undefined for standard output.
 * @throws as `mayReplace`, and as `openOutFile` for a path where no file can be created
 */
export async function outPlaceOf(
  session: Session,
  options: Given['options'],
  force = options.has(FORCE),
): Promise<OutPlace | undefined> {
  const path = textOption(options, OUT);
  if (path === undefined || path === '-') return undefined;
  const place = { path, replace: await mayReplace(session, [path], force, OUT), field: OUT };
  withPlainErrors(place, () => refuseUnwritable(place));
  return place;
}

/** Refuses a path before anything is done, because a result that cannot be written may be a secret shown only once. */
function refuseUnwritable(place: NamedOutput): void {
  const { path } = place;
  if (OWN_DESCRIPTOR.test(path)) return;
  const present = statSync(path, { throwIfNoEntry: false });
  if (present?.isDirectory()) throw directory(place);
  if (present === undefined || present.isFile()) {
    const parent = dirname(present === undefined ? path : realpathSync(path));
    // The dot makes it an error if the parent is a file.
    accessSync(`${parent}/.`, constants.W_OK | constants.X_OK);
  } else accessSync(path, constants.W_OK);
}

const alreadyThere = (path: string): CofferError =>
  exists(`${path} already exists`, { hint: 'use --force to overwrite it' });

const directory = ({ path, field }: NamedOutput): CofferError =>
  invalid(`${path} is a directory`, field === undefined ? {} : { field });

/**
 * Opens a file for writing. A device or a named pipe is written to directly.
 * @throws `invalid` if no file can have this path; `exists` if a file exists that may not be replaced; `unavailable` if
 * the disk fails
 */
export function openOutFile(place: OutPlace): OutFile {
  const { path } = place;
  return withPlainErrors(place, () => {
    if (OWN_DESCRIPTOR.test(path)) return device(place, 'a');
    const present = statSync(path, { throwIfNoEntry: false });
    if (present?.isDirectory()) throw directory(place);
    if (present !== undefined && !present.isFile()) return device(place, 'w');
    return temporaryFile(place, present === undefined ? path : realpathSync(path));
  });
}

/** Writes a file in one piece; throws as `openOutFile`. */
export const writeOutFile = (place: OutPlace, data: string | Uint8Array, last?: () => void): Promise<void> =>
  throughOutFile(place, (out) => out.write(data), last);

/**
 * Writes a file through `work`; it appears when that is done, and not at all if it fails.
 * @throws as `openOutFile`
 */
export async function throughOutFile<T>(
  place: OutPlace,
  work: (out: OutFile) => T | Promise<T>,
  last?: () => void,
): Promise<T> {
  const out = openOutFile(place);
  try {
    const result = await work(out);
    await out.commit(last);
    return result;
  } finally {
    out.abort();
  }
}

function temporaryFile(place: OutPlace, target: string): OutFile {
  const { path, replace, mode = OWNER_ONLY, like } = place;
  const refuseThere = (): void => {
    if (!replace && isFileThere(target)) throw alreadyThere(path);
  };
  refuseThere();
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  let descriptor = -1;
  let open = false;
  const drop = (): void => {
    if (!open) return;
    open = false;
    closeSync(descriptor);
    rmSync(temporary, { force: true });
  };
  // Installed before the file is created, since a signal in between would leave the file behind.
  const signals = removeOnSignal(drop);
  try {
    descriptor = openSync(temporary, 'wx', mode);
    open = true;
    if (like !== undefined) makeLike(descriptor, like);
  } catch (error) {
    drop();
    signals.stop();
    throw error;
  }
  return {
    ...writer(place, descriptor),
    file: { descriptor, explain: (error) => writeFailure(path, error, place.field) },
    async commit(last) {
      await withPlainErrorsLater(place, flush(descriptor));
      await turn();
      await turn();
      refuseThere();
      last?.();
      withPlainErrors(place, () => move(temporary, target));
      open = false;
      closeSync(descriptor);
      signals.stop();
      try {
        await syncDirectory(dirname(target));
      } catch (error) {
        throw notKnownDurable(path, error);
      }
    },
    abort() {
      drop();
      signals.stop();
    },
  };
}

/** Copies owner and mode. The owner comes first: changing it clears permission bits. */
function makeLike(descriptor: number, { uid, gid, mode }: Stats): void {
  const own = fstatSync(descriptor);
  if (own.uid !== uid || own.gid !== gid) fchownSync(descriptor, uid, gid);
  if (own.mode !== mode) fchmodSync(descriptor, mode & MODE_BITS);
}

/** Returns the error if the file is complete, and has replaced the old one, but may not be durable. */
const notKnownDurable = (path: string, error: unknown): CofferError =>
  unconfirmed(`${path} was written, but could not be flushed to disk: ${reasonOf(error)}`, {
    hint: 'the file is complete: copy it elsewhere, or check the disk',
    cause: error,
  });

function device(place: OutPlace, flags: 'w' | 'a'): OutFile {
  const descriptor = openSync(place.path, flags);
  let open = true;
  const close = (): void => {
    if (open) closeSync(descriptor);
    open = false;
  };
  return { ...writer(place, descriptor), commit: async () => close(), abort: close };
}

const writer = (place: NamedOutput, descriptor: number): Pick<OutFile, 'write' | 'writeLater'> => ({
  write: (data) => withPlainErrors(place, () => writeWhole(descriptor, Buffer.from(data))),
  writeLater: (data) => withPlainErrorsLater(place, writeWholeLater(descriptor, data)),
});

/** Resolves when everything written is on disk. */
export const flush = (descriptor: number): Promise<void> => answered((done) => fsync(descriptor, done));

/** Removes the unfinished file on Ctrl-C and similar signals, and then ends the process as by default. */
function removeOnSignal(drop: () => void): { stop(): void } {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const end = (signal: NodeJS.Signals): void => {
    drop();
    stop();
    process.kill(process.pid, signal);
  };
  const stop = (): void => {
    for (const signal of signals) process.off(signal, end);
  };
  for (const signal of signals) process.on(signal, end);
  return { stop };
}

/** Syncs the directory of a file, which makes its name durable. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const descriptor = openSync(path, 'r');
  try {
    await flush(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Refuses an output that is also the input: writing it would destroy data that is still to be read.
 * @throws `invalid` if both paths are the same file
 */
export function refuseSameFile(input: string | undefined, output: string | undefined): void {
  if (input === undefined || output === undefined) return;
  const from = statSync(input, { throwIfNoEntry: false });
  const to = statSync(output, { throwIfNoEntry: false });
  if (from?.isFile() && from.dev === to?.dev && from.ino === to.ino) {
    throw invalid('input and output are the same file', { field: 'out', hint: 'name another file' });
  }
}

const IMPOSSIBLE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG']);
const REASONS: typeof FILE_REASONS = {
  ...FILE_REASONS,
  ENOENT: 'no such directory',
  ENOSPC: 'no space left on the disk',
};

const withPlainErrors = <T>({ path, field }: NamedOutput, work: () => T): T =>
  failingAs((error) => writeFailure(path, error, field), work);

const withPlainErrorsLater = <T>({ path, field }: NamedOutput, work: Promise<T>): Promise<T> =>
  work.catch(throwing((error) => writeFailure(path, error, field)));

const reasonOf = (error: unknown): string => REASONS[errorCode(error) ?? ''] ?? diskReason(error);

/**
 * Converts a system error to a plain message; returns all others unchanged.
 * @param field option that named the file, if there is one
 */
export function writeFailure(path: string, error: unknown, field?: string): unknown {
  const code = errorCode(error);
  if (code === undefined) return error;
  return new CofferError(
    IMPOSSIBLE.has(code) ? 'invalid' : 'unavailable',
    `cannot write ${path}: ${reasonOf(error)}`,
    { field, hint: code === 'ENOENT' ? homeHint(path) : undefined, cause: error },
  );
}
