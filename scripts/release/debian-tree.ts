/** Directory from which a Debian package is built, with reproducible bytes, modes and times. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const KIB = 1024;
export const PLAIN = 0o644;
export const PROGRAM = 0o755;

/** Files that a package installs, and its metadata in `DEBIAN`. */
export class DebianTree {
  readonly directory: string;
  readonly #epoch: number;

  /**
   * Creates the directory.
   * @param epoch modification time of each file, in seconds since 1970
   */
  constructor(directory: string, epoch: number) {
    this.directory = directory;
    this.#epoch = epoch;
    mkdirSync(directory, { recursive: true });
    // Independent of the umask.
    chmodSync(directory, PROGRAM);
  }

  /**
   * Writes a file.
   * @param path path without a leading slash
   */
  write(path: string, content: string | Uint8Array, mode = PLAIN): void {
    const file = this.#placeFor(path);
    writeFileSync(file, content);
    chmodSync(file, mode);
  }

  copy(path: string, from: string, mode = PLAIN): void {
    const file = this.#placeFor(path);
    copyFileSync(from, file);
    chmodSync(file, mode);
  }

  link(path: string, to: string): void {
    symlinkSync(to, this.#placeFor(path));
  }

  /** Returns all installed files, in order, without links. */
  files(): readonly string[] {
    return this.#entries()
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.directory.length + 1))
      .filter((path) => !path.startsWith('DEBIAN/'))
      .sort();
  }

  /** Returns the installed size, in KiB as dpkg counts: rounded up for each file, one for everything else. */
  installedKiB(): number {
    const others = this.#entries().filter((entry) => !entry.isFile()).length;
    const sizes = this.files().map((path) => Math.ceil(statSync(join(this.directory, path)).size / KIB));
    return sizes.reduce((sum, size) => sum + size, others);
  }

  /** Returns the content of `DEBIAN/md5sums`, with which `dpkg --verify` finds modified files. */
  md5sums(): string {
    const sums = this.files().map((path) => {
      const sum = createHash('md5')
        .update(readFileSync(join(this.directory, path)))
        .digest('hex');
      return `${sum}  ${path}\n`;
    });
    return sums.join('');
  }

  /** Sets all times. Called after everything is written. */
  setTimes(): void {
    for (const entry of this.#entries()) this.#setTime(join(entry.parentPath, entry.name));
    this.#setTime(this.directory);
  }

  #setTime(path: string): void {
    lutimesSync(path, this.#epoch, this.#epoch);
  }

  #entries() {
    return readdirSync(this.directory, { recursive: true, withFileTypes: true });
  }

  #placeFor(path: string): string {
    const parts = dirname(path).split('/');
    // Parent directories get this mode as well.
    for (const [index] of parts.entries()) {
      const directory = join(this.directory, ...parts.slice(0, index + 1));
      mkdirSync(directory, { recursive: true });
      chmodSync(directory, PROGRAM);
    }
    return join(this.directory, path);
  }
}
