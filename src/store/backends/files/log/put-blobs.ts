import type * as fileSystem from 'node:fs';
import { diskError } from '../disk-errors.ts';
import type { BlobPlace } from './log-file.ts';

/** Blob, and where its content is in a file of the log; an undefined place deletes it. */
type PutBlob = readonly [path: string, place: BlobPlace | undefined];

/** Blobs to put into their places. Plain data, for another thread. */
export interface PutJob {
  /** File of the log that has their contents. */
  readonly source: string;
  /** So few that all of them can be open at the same time. */
  readonly blobs: readonly PutBlob[];
  /** Directories to sync afterwards. */
  readonly directories: readonly string[];
  /** Directory of the state, and how its name begins for as long as the paths are those of the present generation. */
  readonly statePath: string;
  readonly prefix: string;
  /** Times to look for that name until it counts as gone. */
  readonly looks: number;
  readonly staged: string;
  readonly flags: number;
  readonly mode: number;
  /** Syncs at the same time. */
  readonly parallel: number;
  /** Platform that this is done on, as Node names it. */
  readonly platform: string;
}

/** How a job ended; `gone` if another generation has taken the place of this one. */
export type Outcome =
  | 'done'
  | 'gone'
  | { readonly code: string | undefined; readonly message: string; readonly path: string };

/** Functions that are used: of `node:fs`, and the one that tries an operation again on Windows. */
interface PutTools {
  readonly fs: Pick<
    typeof fileSystem,
    | 'closeSync'
    | 'fsync'
    | 'ftruncateSync'
    | 'openSync'
    | 'readdirSync'
    | 'readSync'
    | 'renameSync'
    | 'statSync'
    | 'unlinkSync'
    | 'writeSync'
  >;
  patiently<T>(work: () => T, platform: string): T;
}

/**
 * Puts blobs into their places, durably. All are written before the first is synced: then fewer syncs have something
 * to wait for. Nothing is left out because it is there already, and a deletion that finds nothing makes a file first:
 * the sync of an earlier attempt may have failed.
 *
 * Its source text runs in another thread as well, so it uses only its parameters.
 */
export async function putBlobs({ fs, patiently }: PutTools, job: PutJob): Promise<Outcome> {
  /** File that is being worked on. */
  let current = job.source;
  const at = (path: string): string => {
    current = path;
    return path;
  };
  const open = (path: string, flags: number | 'r'): number =>
    patiently(() => fs.openSync(at(path), flags, job.mode), job.platform);
  const sync = (fd: number): Promise<void> =>
    new Promise((resolve, reject) => {
      fs.fsync(fd, (error) => (error === null ? resolve() : reject(error)));
    });
  const read = (from: number, { offset, length }: BlobPlace): Uint8Array => {
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const count = fs.readSync(from, bytes, done, length - done, offset + done);
      if (count === 0) throw new Error(`${job.source} is shorter than it was`);
      done += count;
    }
    return bytes;
  };
  const isThere = (path: string): boolean => fs.statSync(at(path), { throwIfNoEntry: false }) !== undefined;
  const isGone = (): boolean => {
    // A listing may miss a name that is changed meanwhile.
    for (let look = 0; look < job.looks; look++)
      if (fs.readdirSync(at(job.statePath)).some((name) => name.startsWith(job.prefix))) return false;
    return true;
  };
  const remove = (path: string): void => {
    if (!isThere(path)) fs.closeSync(open(path, job.flags));
    patiently(() => fs.unlinkSync(path), job.platform);
    // An attempt that was interrupted may have left what is deleted by now.
    if (isThere(path + job.staged)) patiently(() => fs.unlinkSync(path + job.staged), job.platform);
  };
  /** Files that are open: what they will be called, and their descriptors. */
  const opened: { readonly path: string; readonly fd: number }[] = [];

  try {
    if (isGone()) return 'gone';
    const from = open(job.source, 'r');
    opened.push({ path: job.source, fd: from });
    for (const [path, place] of job.blobs) {
      if (place === undefined) continue;
      const bytes = read(from, place);
      const fd = open(path + job.staged, job.flags);
      opened.push({ path, fd });
      if (job.platform === 'linux') fs.ftruncateSync(fd, 0);
      for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done);
    }
    const written = opened.slice(1);
    // ext4 gives a file its blocks only when it is synced, and then its journal commits for each file anew. A file that
    // was cut to nothing, even an empty one, gets them when a descriptor of it is closed: then one commit has them all.
    if (job.platform === 'linux') for (const { path } of written) fs.closeSync(open(path + job.staged, 'r'));
    let next = 0;
    const syncSome = async (): Promise<void> => {
      for (let file = written[next++]; file !== undefined; file = written[next++]) {
        try {
          await sync(file.fd);
        } catch (error) {
          at(file.path);
          throw error;
        }
      }
    };
    // All end before anything is closed.
    const ends = await Promise.allSettled(Array.from({ length: job.parallel }, syncSome));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    for (const { fd } of opened.splice(0)) fs.closeSync(fd);
    if (isGone()) return 'gone';
    for (const [path, place] of job.blobs) {
      at(path);
      if (place === undefined) remove(path);
      else patiently(() => fs.renameSync(path + job.staged, path), job.platform);
    }
    // Windows cannot open directories; its file system journals entries on its own.
    for (const path of job.platform === 'win32' ? [] : job.directories) {
      const fd = open(path, 'r');
      opened.push({ path, fd });
      await sync(fd);
    }
    return 'done';
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { code, message, path: current };
  } finally {
    for (const { fd } of opened) fs.closeSync(fd);
  }
}

/**
 * Returns whether everything is in its place; false if the generation is gone.
 * @throws `unavailable` if the disk fails
 */
export function judge(outcome: Outcome): boolean {
  if (typeof outcome === 'string') return outcome === 'done';
  const { code, message, path } = outcome;
  throw diskError(Object.assign(new Error(message), { code }), 'write', path);
}
