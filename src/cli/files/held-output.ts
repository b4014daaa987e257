import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wipe } from '../../ground/bytes.ts';
import { CofferError } from '../../ground/errors.ts';
import { diskReason } from '../../store/backends/files/disk-errors.ts';
import { writeWhole } from '../terminal/streams.ts';

/** Maximum size in memory, in bytes; more is written to a file. */
const MEMORY_BYTES = 1 << 20;
const READ_BYTES = 1 << 16;
const OWNER_ONLY = 0o600;

/**
 * Output that is held back until it may be printed. It uses constant memory for any size. On disk it is encrypted with
 * a key that only this process has, in a file that is already unlinked.
 */
export class HeldOutput {
  #parts: Buffer[] = [];
  #bytes = 0;
  #file: HeldFile | undefined;

  write(text: string): void {
    const bytes = Buffer.from(text);
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes < MEMORY_BYTES) return;
    this.#file ??= new HeldFile();
    this.#file.write(Buffer.concat(this.#parts));
    this.#parts = [];
    this.#bytes = 0;
  }

  /** Prints everything that was written, in order. */
  release(print: (bytes: Uint8Array) => void): void {
    this.#file?.read(print);
    for (const part of this.#parts) print(part);
    this.close();
  }

  /** Discards the rest. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#parts = [];
  }
}

class HeldFile {
  readonly #key = randomBytes(32);
  readonly #start = randomBytes(16);
  readonly #cipher = createCipheriv('aes-256-ctr', this.#key, this.#start);
  readonly #directory = plainly(() => mkdtempSync(join(tmpdir(), 'coffer-')));
  readonly #descriptor = this.#openNameless();

  write(bytes: Buffer): void {
    plainly(() => writeWhole(this.#descriptor, this.#cipher.update(bytes)));
  }

  read(print: (bytes: Uint8Array) => void): void {
    const decipher = createDecipheriv('aes-256-ctr', this.#key, this.#start);
    const chunk = Buffer.alloc(READ_BYTES);
    for (let position = 0; ; ) {
      const count = plainly(() => readSync(this.#descriptor, chunk, 0, chunk.length, position));
      if (count === 0) return;
      print(decipher.update(chunk.subarray(0, count)));
      position += count;
    }
  }

  close(): void {
    closeSync(this.#descriptor);
    wipe(this.#key);
    this.#remove();
  }

  /** Opens a file that no longer has a name when this returns, if the system allows that for an open file. */
  #openNameless(): number {
    try {
      return plainly(() => openSync(join(this.#directory, 'held'), 'wx+', OWNER_ONLY));
    } finally {
      this.#remove();
    }
  }

  #remove(): void {
    try {
      rmSync(this.#directory, { recursive: true, force: true });
    } catch {
      // Windows does not unlink an open file.
    }
  }
}

function plainly<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CofferError(
      'unavailable',
      `cannot store the results on disk until all are complete: ${diskReason(error)}`,
      {
        hint: 'write them to a file with --out',
        cause: error,
      },
    );
  }
}
