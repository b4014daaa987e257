import { statSync } from 'node:fs';
import type { Session } from '../session.ts';
import { TransferProgress } from '../terminal/progress.ts';
import type { Input } from '../terminal/streams.ts';
import { openInFile } from './in-file.ts';
import { announceStandardInput } from './input.ts';
import { hashOf } from './large-input.ts';

/** The name of standard input. */
export const STANDARD = '-';

/** They take longer than a request to a server, or may do so. */
const LONG_BYTES = 2 ** 24;

/** Hashes files of any size, one after the other, and shows on a terminal how far it is. */
export class FileHasher {
  readonly #session: Session;
  readonly #progress: TransferProgress;
  /** Whether it is worth a question first. */
  readonly takesLong: boolean;

  /**
   * @param paths every file that will be hashed; `-` is standard input.
   * @param field what named them, for messages.
   * @throws `invalid` when one can't be opened: that is found before anybody is asked for a secret.
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

  /** @param algorithm as `node:crypto` knows it. */
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

  /** Hashes an input that was begun to be read. @param start what was read of it. */
  hashRest(input: Input, algorithm: string, start?: Uint8Array): Promise<Buffer> {
    return hashOf(input, algorithm, this.#progress, start);
  }

  end(): void {
    this.#progress.end();
  }
}

/** Whoever writes into a pipe would take a look at it for its one reader. */
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
