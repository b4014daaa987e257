import { randomBytes } from 'node:crypto';
import { closeSync, fsync, openSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { move } from '../../ground/directories.ts';
import { CofferError, invalid, unconfirmed } from '../../ground/errors.ts';
import { answered, turn } from '../../ground/pause.ts';
import { diskReason } from '../../store/backends/files/disk-errors.ts';
import { writeWhole, writeWholeLater } from '../terminal/streams.ts';
import { FILE_REASONS } from './in-file.ts';

const OWNER_ONLY = 0o600;

/** A file that appears under its name when everything has been written, or not at all. */
export interface OutFile {
  write(data: string | Uint8Array): void;
  /** As `write`, while other work goes on; `data` must not change meanwhile. */
  writeLater(data: Uint8Array): Promise<void>;
  /**
   * Makes it durable and gives it its name; from then on an old file of that name is gone. Not when a signal has come: Ctrl-C
   * ends the process that feeds a pipe, too, and its end must not pass for the end of the data.
   */
  commit(): Promise<void>;
  /** Drops what was written; the old file, if any, stays. Does nothing after `commit`. */
  abort(): void;
}

/**
 * Opens FILE for writing. A device or a named pipe is written to directly.
 * @throws `invalid` when the place can't be right, `unavailable` when the disk refuses.
 */
export function openOutFile(path: string): OutFile {
  return withPlainErrors(path, () => {
    const present = statSync(path, { throwIfNoEntry: false });
    if (present?.isDirectory()) throw invalid(`${path} is a directory`, { field: 'out' });
    return present === undefined || present.isFile()
      ? temporaryFile(path, present === undefined ? path : realpathSync(path))
      : device(path);
  });
}

function temporaryFile(path: string, target: string): OutFile {
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  const descriptor = openSync(temporary, 'wx', OWNER_ONLY);
  let open = true;
  const drop = (): void => {
    if (!open) return;
    open = false;
    closeSync(descriptor);
    rmSync(temporary, { force: true });
  };
  const signals = removeOnSignal(drop);
  return {
    ...writer(path, descriptor),
    async commit() {
      await withPlainErrorsLater(path, () => flush(descriptor));
      await turn();
      await turn();
      withPlainErrors(path, () => move(temporary, target));
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

/** The file is there, whole, and what was there before is gone. */
const notKnownDurable = (path: string, error: unknown): CofferError =>
  unconfirmed(`${path} is written, but not known to outlast a power cut: ${reasonOf(error)}`, {
    hint: 'it is whole: copy it elsewhere, or check the disk',
    cause: error,
  });

function device(path: string): OutFile {
  const descriptor = openSync(path, 'w');
  let open = true;
  const close = (): void => {
    if (open) closeSync(descriptor);
    open = false;
  };
  return { ...writer(path, descriptor), commit: async () => close(), abort: close };
}

const writer = (path: string, descriptor: number): Pick<OutFile, 'write' | 'writeLater'> => ({
  write: (data) => withPlainErrors(path, () => writeWhole(descriptor, Buffer.from(data))),
  writeLater: (data) => withPlainErrorsLater(path, () => writeWholeLater(descriptor, data)),
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

function withPlainErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw writeFailure(path, error);
  }
}

async function withPlainErrorsLater<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw writeFailure(path, error);
  }
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

const reasonOf = (error: unknown): string => REASONS[codeOf(error) ?? ''] ?? diskReason(error);

/**
 * An error of the platform in plain words; any other error as it is.
 * @param field which value named the file.
 */
export function writeFailure(path: string, error: unknown, field = 'out'): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  return new CofferError(
    IMPOSSIBLE.has(code) ? 'invalid' : 'unavailable',
    `can't write ${path}: ${reasonOf(error)}`,
    { field, cause: error },
  );
}
