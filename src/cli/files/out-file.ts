import { randomBytes } from 'node:crypto';
import {
  closeSync,
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
import { CofferError, exists, invalid, unconfirmed } from '../../ground/errors.ts';
import { answered, turn } from '../../ground/pause.ts';
import { diskReason } from '../../store/backends/files/disk-errors.ts';
import type { PlainFile } from '../../transit/envelope/ports.ts';
import { type Given, textOption } from '../given.ts';
import { FORCE, OUT } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { writeWhole, writeWholeLater } from '../terminal/streams.ts';
import { FILE_REASONS } from './in-file.ts';

const OWNER_ONLY = 0o600;
const MODE_BITS = 0o7777;

/** A file that appears under its name when everything has been written, or not at all. */
export interface OutFile {
  write(data: string | Uint8Array): void;
  /** As `write`, while other work goes on; `data` must not change meanwhile. */
  writeLater(data: Uint8Array): Promise<void>;
  /** For whoever writes with calls of its own; undefined for what is no regular file. */
  readonly file?: PlainFile;
  /**
   * Makes it durable and gives it its name; an old file of that name is gone then, if it may be. Not when a signal has come: Ctrl-C
   * ends the process that feeds a pipe, too, and its end must not pass for the end of the data.
   * @param last called right before; what it throws leaves everything as it was.
   */
  commit(last?: () => void): Promise<void>;
  /** Drops what was written; the old file, if any, stays. Does nothing after `commit`. */
  abort(): void;
}

/** A file to be written, and whether one that is there may go for it. */
export interface OutPlace {
  readonly path: string;
  readonly replace: boolean;
  /** Permissions of a new file, less the umask; only the owner's when absent. */
  readonly mode?: number;
  /** Of the file that is replaced, when the new one is to have its owner and mode. */
  readonly like?: Stats;
  /** The option that named it, for errors; absent where none did, as for what lies beside a file that was named. */
  readonly field?: string | undefined;
}

/** What an error says of a file. */
type Named = Pick<OutPlace, 'path' | 'field'>;

/** Standard streams and descriptors by their names: what they lead to was opened on purpose, by whoever started us. */
const OWN_DESCRIPTOR = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/** A device, a pipe and standard output are not there in the sense that something would be lost. */
const isFileThere = (path: string): boolean =>
  !OWN_DESCRIPTOR.test(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/**
 * Decides, before anything is unlocked or done, about files that are there: only `--force`, `--yes` or the person at the terminal
 * lets them be replaced.
 * @param force what else than `--yes` says so.
 * @param field the option that named them, for errors.
 * @throws `exists` when one is there and has to stay.
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
  const isMeant = await session.confirmed(async () => `Replace ${what}? What is there now is lost.`);
  if (!isMeant) throw alreadyThere(first);
  return true;
}

/** Where `--out FILE` leads; undefined for standard output. @throws as `mayReplace` */
export async function outPlaceOf(
  session: Session,
  options: Given['options'],
  force = options.has(FORCE),
): Promise<OutPlace | undefined> {
  const path = textOption(options, OUT);
  if (path === undefined || path === '-') return undefined;
  return { path, replace: await mayReplace(session, [path], force, OUT), field: OUT };
}

const alreadyThere = (path: string): CofferError =>
  exists(`${path} exists already`, { hint: 'say --force to replace it' });

/**
 * Opens FILE for writing. A device or a named pipe is written to directly.
 * @throws `invalid` when the place can't be right, `exists` when a file is there that must stay, `unavailable` when the disk refuses.
 */
export function openOutFile(place: OutPlace): OutFile {
  const { path, field } = place;
  return withPlainErrors(place, () => {
    if (OWN_DESCRIPTOR.test(path)) return device(place, 'a');
    const present = statSync(path, { throwIfNoEntry: false });
    if (present?.isDirectory()) throw invalid(`${path} is a directory`, field === undefined ? {} : { field });
    if (present !== undefined && !present.isFile()) return device(place, 'w');
    return temporaryFile(place, present === undefined ? path : realpathSync(path));
  });
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
  // Before there is a file, for a signal that comes at that moment would leave it behind.
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
      await withPlainErrorsLater(place, () => flush(descriptor));
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

/** The owner first: giving a file away takes rights from it. */
function makeLike(descriptor: number, { uid, gid, mode }: Stats): void {
  const own = fstatSync(descriptor);
  if (own.uid !== uid || own.gid !== gid) fchownSync(descriptor, uid, gid);
  if (own.mode !== mode) fchmodSync(descriptor, mode & MODE_BITS);
}

/** The file is there, whole, and what was there before is gone. */
const notKnownDurable = (path: string, error: unknown): CofferError =>
  unconfirmed(`${path} is written, but not known to outlast a power cut: ${reasonOf(error)}`, {
    hint: 'it is whole: copy it elsewhere, or check the disk',
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

const writer = (place: Named, descriptor: number): Pick<OutFile, 'write' | 'writeLater'> => ({
  write: (data) => withPlainErrors(place, () => writeWhole(descriptor, Buffer.from(data))),
  writeLater: (data) => withPlainErrorsLater(place, () => writeWholeLater(descriptor, data)),
});

/** Resolves when everything written is on disk. */
export const flush = (descriptor: number): Promise<void> => answered((done) => fsync(descriptor, done));

/** Ctrl-C and the like remove the unfinished file, and then end the process as they would have. */
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

/** The name of a file is durable once its directory is. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const descriptor = openSync(path, 'r');
  try {
    await flush(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** @throws `invalid` when both names mean one file: writing it would destroy what is still being read. */
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
  ENOSPC: 'the disk is full',
};

function withPlainErrors<T>({ path, field }: Named, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw writeFailure(path, error, field);
  }
}

async function withPlainErrorsLater<T>({ path, field }: Named, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw writeFailure(path, error, field);
  }
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

const reasonOf = (error: unknown): string => REASONS[codeOf(error) ?? ''] ?? diskReason(error);

/**
 * An error of the platform in plain words; any other error as it is.
 * @param field the option that named the file, if one did.
 */
export function writeFailure(path: string, error: unknown, field?: string): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  return new CofferError(
    IMPOSSIBLE.has(code) ? 'invalid' : 'unavailable',
    `can't write ${path}: ${reasonOf(error)}`,
    { ...(field !== undefined && { field }), cause: error },
  );
}
