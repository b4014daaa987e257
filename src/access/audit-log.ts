import { constants, type Stats, writeSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { elapsedMs } from '../ground/clock.ts';
import { CofferError, placed, unavailable } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import { pause } from '../ground/pause.ts';
import { refuseWritable } from '../ground/private-files.ts';
import { diskReason } from '../store/backends/files/disk-errors.ts';

export interface AuditLogOptions {
  /** When a record counts as written: once the operating system has it (the default), or once the disk has it. */
  readonly durability?: 'system' | 'disk';
  /** Milliseconds since any moment, never going back; tests hand in their own. */
  readonly elapsedMs?: () => number;
}

interface Batch {
  readonly lines: string[];
  readonly written: PromiseWithResolvers<void>;
}

const NEWLINE = 0x0a;
const MODE = 0o600;
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
/** How often is looked whether the file was moved away. */
const CHECK_EVERY_MS = 1000;
/** An append takes far less, and is at most some pages behind another. */
const GROWING_MS = 20;

/**
 * A file of audit records, one a line, appended to by any number of processes. Lines that arrive while a write is
 * under way share the next one, so that many requests wait for one write. A batch goes out in a single append, so
 * lines of several processes do not mix.
 * @see docs/decisions/0053
 */
export class AuditLog {
  readonly #path: string;
  readonly #isDurable: boolean;
  readonly #elapsedMs: () => number;
  #file: FileHandle;
  #identity: Stats;
  /** The file ends within a line: a write was cut short. */
  #torn: boolean;
  #checkedAt: number;
  #reopenWanted = false;
  #next: Batch | undefined;
  #writer: Promise<void> | undefined;
  #closed = false;

  private constructor(path: string, options: AuditLogOptions, opened: OpenedLog) {
    this.#path = path;
    this.#isDurable = options.durability === 'disk';
    this.#elapsedMs = options.elapsedMs ?? elapsedMs;
    this.#checkedAt = this.#elapsedMs();
    this.#file = opened.file;
    this.#identity = opened.identity;
    this.#torn = opened.torn;
  }

  /** Opens (0600, made when missing) the file. @throws `unavailable` naming the file; others may not write to it. */
  static async open(path: string, options: AuditLogOptions = {}): Promise<AuditLog> {
    return new AuditLog(path, options, await openLog(path));
  }

  /**
   * Appends a line. Resolves once it is written.
   * @throws `unavailable`: the request must then fail.
   */
  append(line: string): Promise<void> {
    if (this.#closed) return Promise.reject(cannotWrite(new Error('it is closed')));
    this.#next ??= { lines: [], written: Promise.withResolvers<void>() };
    this.#next.lines.push(line);
    this.#writer ??= this.#write();
    return this.#next.written.promise;
  }

  /** Opens the file by its name again, after it was moved away (SIGHUP). It also happens by itself within a second. */
  reopen(): void {
    this.#reopenWanted = true;
  }

  /** Writes what waits, then closes. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writer;
    await this.#file.close();
  }

  /** Writes batch after batch until none is left. Never fails: a failure belongs to those who wait for the batch. */
  async #write(): Promise<void> {
    // All requests that are answered before control goes back to the event loop go out together.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    for (let batch = this.#take(); batch !== undefined; batch = this.#take()) {
      try {
        await this.#append(batch.lines);
        batch.written.resolve();
      } catch (error) {
        batch.written.reject(cannotWrite(error));
      }
    }
    this.#writer = undefined;
  }

  #take(): Batch | undefined {
    const batch = this.#next;
    this.#next = undefined;
    return batch;
  }

  async #append(lines: readonly string[]): Promise<void> {
    await this.#followName();
    const bytes = Buffer.from(`${this.#torn ? '\n' : ''}${lines.join('\n')}\n`);
    let done = 0;
    try {
      // Into the page cache of the system, which takes less time than handing the write to a thread and back.
      while (done < bytes.length) done += writeSync(this.#file.fd, bytes, done);
      this.#torn = false;
    } catch (error) {
      if (done > 0) this.#torn = true;
      throw error;
    }
    if (this.#isDurable) await this.#file.datasync();
  }

  /** Goes on in a new file when the old one was moved away or removed. */
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

/** A line in the midst of being written by another process looks like one that was cut short, but goes on growing. */
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
    hint: 'mend the path or its permissions',
    cause,
  });
}

/** Callers of a server see this text, so the file and the reason are only in the cause. */
const cannotWrite = (cause: unknown): CofferError =>
  unavailable(ownWords('the audit log can not be written'), {
    hint: 'nothing is answered until it can: make room, or mend its permissions',
    cause,
  });
