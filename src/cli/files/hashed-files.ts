import { statSync } from 'node:fs';
import type { Session } from '../session.ts';
import { TransferProgress } from '../terminal/progress.ts';
import type { Input } from '../terminal/streams.ts';
import { openInFile } from './in-file.ts';
import { announceStandardInput } from './input.ts';
import { hashOf } from './large-input.ts';

/** Name of standard input. */
export const STANDARD = '-';

/** Size in bytes from which hashing takes, or may take, longer than a request to a server. */
const LONG_BYTES = 2 ** 24;

/** Hashes files of any size, one after the other, with progress on a terminal. */
export class FileHasher {
  readonly #session: Session;
  readonly #progress: TransferProgress;
  /** Whether it takes so long that a question should be asked before. */
  readonly takesLong: boolean;

  /**
   * Opens the files, so that errors are found before the user is asked for a secret.
   * @param paths files to hash; `-` is standard input
   * @param field option or argument that named them, for messages
   * @throws `invalid` if one cannot be opened
   */
  constructor(session: Session, paths: readonly string[], field: string) {
    this.#session = session;
    const sizes = paths.map((path) => (path === STANDARD ? session.streams.in.bytes : sizeOf(path, field)));
    const total = sizes.reduce(
      (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    );
    this.#progress = new TransferProgress(session, total, false);
    this.takesLong = total === undefined || total > LONG_BYTES;
  }

  /**
   * Hashes a file.
   * @param algorithm name in `node:crypto`
   */
  async hash(path: string, algorithm: string, field: string): Promise<Buffer> {
    if (path === STANDARD) {
      announceStandardInput(this.#session);
      return this.hashRest(this.#session.streams.in, algorithm);
    }
    const file = openInFile(path, field);
    try {
      return await this.hashRest(file, algorithm);
    } finally {
      file.close();
    }
  }

  /**
   * Hashes an input that was partly read.
   * @param start part that was read
   */
  hashRest(input: Input, algorithm: string, start?: Uint8Array): Promise<Buffer> {
    return hashOf(input, algorithm, this.#progress, start);
  }

  end(): void {
    this.#progress.end();
  }
}

/**
 * Returns the size of a file; undefined for a pipe, which is not opened here: its writer would take that for its only
 * reader.
 */
function sizeOf(path: string, field: string): number | undefined {
  if (isFifo(path)) return undefined;
  const file = openInFile(path, field);
  file.close();
  return file.bytes;
}

function isFifo(path: string): boolean {
  try {
    return statSync(path).isFIFO();
  } catch {
    return false;
  }
}
