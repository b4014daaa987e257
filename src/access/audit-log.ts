import { constants, type Stats, writeSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { elapsedMs } from '../ground/clock.ts';
import { CofferError, ownWords, placed, unavailable } from '../ground/errors.ts';
import { pause } from '../ground/pause.ts';
import { refuseWritable } from '../ground/private-files.ts';
import { diskReason } from '../store/backends/files/disk-errors.ts';

interface AuditLogOptions {
  /** When a record counts as written: once the operating system has it (the default), or once it is on disk. */
  readonly durability?: 'system' | 'disk';
  /** Called when records could not be written, with their number. */
  readonly unwritten?: (records: number) => void;
  /** Monotonic clock, in milliseconds; replaced in tests. */
  readonly elapsedMs?: () => number;
}

interface LineBatch {
  readonly lines: string[];
  readonly written: PromiseWithResolvers<void>;
}

const NEWLINE = 0x0a;
const MODE = 0o600;
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
/** Interval at which the file is checked for having been moved, in milliseconds. */
const CHECK_EVERY_MS = 1000;
/** Pause before a growing file is read again, in milliseconds: an append takes far less. */
const GROWING_MS = 20;

/**
 * Audit log file with one record per line, appended to by any number of processes. Lines that arrive during a write
 * share the next one, so that many requests wait for a single write. A batch is a single append, so that lines of
 * several processes do not mix.
 * @see docs/decisions/0053
 */
export class AuditLog {
  readonly #path: string;
  readonly #isDurable: boolean;
  readonly #unwritten: AuditLogOptions['unwritten'];
  readonly #elapsedMs: () => number;
  #file: FileHandle;
  #identity: Stats;
  /** Whether the file ends within a line, because a write was interrupted. */
  #torn: boolean;
  #checkedAt: number;
  #reopenWanted = false;
  #next: LineBatch | undefined;
  #writer: Promise<void> | undefined;
  #closed = false;

  private constructor(path: string, options: AuditLogOptions, opened: OpenedLog) {
    this.#path = path;
    this.#isDurable = options.durability === 'disk';
    this.#unwritten = options.unwritten;
    this.#elapsedMs = options.elapsedMs ?? elapsedMs;
    this.#checkedAt = this.#elapsedMs();
    this.#file = opened.file;
    this.#identity = opened.identity;
    this.#torn = opened.torn;
  }

  /**
   * Opens the file (mode 0600), creating it if it is missing.
   * @throws `unavailable` naming the file, also if other users may write to it
   */
  static async open(path: string, options: AuditLogOptions = {}): Promise<AuditLog> {
    return new AuditLog(path, options, await openLog(path));
  }

  /**
   * Appends a line. Resolves once it is written.
   * @throws `unavailable`: the request must fail then
   */
  append(line: string): Promise<void> {
    if (this.#closed) {
      this.#unwritten?.(1);
      return Promise.reject(cannotWrite(this.#path, unavailable(ownWords('the audit log is closed'))));
    }
    this.#next ??= { lines: [], written: Promise.withResolvers<void>() };
    this.#next.lines.push(line);
    this.#writer ??= this.#write();
    return this.#next.written.promise;
  }

  /** Reopens the file by its name, after it was moved (SIGHUP). This also happens automatically within a second. */
  reopen(): void {
    this.#reopenWanted = true;
  }

  /**
   * Opens the file by its name, and closes it: the one in use stays.
   * @throws `unavailable` naming the file if no record can be written to it
   */
  async check(): Promise<void> {
    const { file } = await openLog(this.#path);
    await file.close();
  }

  /** Writes pending lines, then closes the file. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writer;
    await this.#file.close();
  }

  /** Writes all batches. Never fails: an error goes to the callers that wait for the batch. */
  async #write(): Promise<void> {
    // Requests that are answered in the same turn of the event loop share a batch.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    for (let batch = this.#take(); batch !== undefined; batch = this.#take()) {
      try {
        await this.#append(batch.lines);
        batch.written.resolve();
      } catch (error) {
        this.#unwritten?.(batch.lines.length);
        batch.written.reject(cannotWrite(this.#path, error));
      }
    }
    this.#writer = undefined;
  }

  #take(): LineBatch | undefined {
    const batch = this.#next;
    this.#next = undefined;
    return batch;
  }

  async #append(lines: readonly string[]): Promise<void> {
    await this.#followName();
    const bytes = Buffer.from(`${this.#torn ? '\n' : ''}${lines.join('\n')}\n`);
    let done = 0;
    try {
      // Write to the page cache, which takes less time than a round trip to another thread.
      while (done < bytes.length) done += writeSync(this.#file.fd, bytes, done);
      this.#torn = false;
    } catch (error) {
      if (done > 0) this.#torn = true;
      throw error;
    }
    if (this.#isDurable) await this.#file.datasync();
  }

  /** Continues in a new file if the old one was moved or removed. */
  async #followName(): Promise<void> {
    const now = this.#elapsedMs();
    if (!this.#reopenWanted && now - this.#checkedAt < CHECK_EVERY_MS) return;
    if (!this.#reopenWanted && !(await this.#wasMoved())) {
      this.#checkedAt = now;
      return;
    }
    const { file, identity, torn } = await openLog(this.#path);
    await this.#file.close();
    this.#file = file;
    this.#identity = identity;
    this.#torn = torn;
    this.#reopenWanted = false;
    this.#checkedAt = now;
  }

  async #wasMoved(): Promise<boolean> {
    const present = await stat(this.#path).catch(() => undefined);
    return present?.ino !== this.#identity.ino || present.dev !== this.#identity.dev;
  }
}

type OpenedLog = Awaited<ReturnType<typeof openLog>>;

async function openLog(path: string) {
  let file: FileHandle | undefined;
  try {
    file = await open(path, FLAGS, MODE);
    const identity = await file.stat();
    refuseWritable(path, identity, 'audit');
    return { file, identity, torn: await endsWithinLine(file) };
  } catch (error) {
    await file?.close();
    throw cannotOpen(path, error);
  }
}

/**
 * Whether the file ends within a line. A line that another process is just writing looks like an interrupted one, but
 * keeps growing.
 */
async function endsWithinLine(file: FileHandle): Promise<boolean> {
  const last = Buffer.alloc(1);
  for (let before = -1; ; await pause(GROWING_MS)) {
    const { size } = await file.stat();
    if (size === 0) return false;
    await file.read(last, 0, 1, size - 1);
    if (last[0] === NEWLINE) return false;
    if (size === before) return true;
    before = size;
  }
}

function cannotOpen(path: string, cause: unknown): CofferError {
  if (cause instanceof CofferError) return cause;
  return unavailable(placed`cannot open the audit log ${{ file: path }}: ${diskReason(cause)}`, {
    hint: 'check that the directory exists and that you may write there',
    cause,
  });
}

/**
 * Creates the error. Clients of a server see its text, so the file and the reason are only in the cause, which the
 * server logs.
 */
const cannotWrite = (path: string, error: unknown): CofferError =>
  unavailable(ownWords('the audit log cannot be written'), {
    hint: 'requests are refused until the audit log can be written: free disk space, or fix the permissions of its file',
    cause:
      error instanceof CofferError
        ? error
        : unavailable(placed`cannot write the audit log ${{ file: path }}: ${diskReason(error)}`, {
            cause: error,
          }),
  });
