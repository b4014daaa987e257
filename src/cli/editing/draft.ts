import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { attempt } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Environment } from '../given.ts';
import { leftovers, makeMemoryDirectory } from '../memory/memory-directory.ts';

/** Purpose in the names of the memory directories of `edit`. */
const PURPOSE = 'edit';
/** File next to the plaintext, with the path of the edited file and its state when it was decrypted. */
const ABOUT = '.coffer-edit.json';
const OWNER_ONLY = 0o600;

interface About {
  readonly file: string;
  /** Original encrypted file; undefined if there was none. */
  readonly base?: string | undefined;
  /** Digest of the plaintext that was shown. If the text still has it, it was not edited. */
  readonly shown: string;
}

/** Plaintext of a file in memory while it is edited, and after that if it could not be taken over. */
export class DraftFile {
  /** Path of the plaintext, with the name of the file, from which editors determine its type. */
  readonly path: string;
  readonly directory: string;
  #about: About;

  private constructor(directory: string, about: About) {
    this.directory = directory;
    this.path = join(directory, nameBeside(basename(about.file)));
    this.#about = about;
  }

  /**
   * Creates a draft.
   * @throws as `makeMemoryDirectory`
   */
  static make(environment: Environment, file: string, onDisk: boolean): DraftFile {
    const { path } = makeMemoryDirectory(environment, PURPOSE, onDisk);
    return new DraftFile(path, { file, shown: '' });
  }

  /**
   * Returns the draft of an earlier edit of the file that ended before its text was taken over. Unchanged drafts are
   * removed.
   */
  static kept(environment: Environment, file: string): DraftFile | undefined {
    const drafts = leftovers(environment)
      .filter(({ purpose }) => purpose === PURPOSE)
      .flatMap(({ path }) => DraftFile.#found(path) ?? []);
    for (const draft of drafts) if (!draft.isChanged()) draft.remove();
    return drafts.find((draft) => draft.#about.file === file && draft.isChanged());
  }

  /**
   * Reads a draft.
   * @returns undefined, after removing it, if the edit ended before a text was shown
   */
  static #found(directory: string): DraftFile | undefined {
    try {
      return new DraftFile(directory, aboutIn(readFileSync(join(directory, ABOUT), 'utf8')));
    } catch {
      rmSync(directory, { recursive: true, force: true });
      return undefined;
    }
  }

  get base(): string | undefined {
    return this.#about.base;
  }

  /**
   * Writes a plaintext for the editor. The first one contains no work of the user; a later one contains the user's
   * edits.
   * @param base encrypted file that it was made from; undefined if there is none
   */
  show(text: string, base: string | undefined): void {
    const shown = this.#about.shown === '' ? digestOf(text) : this.#about.shown;
    this.#about = { file: this.#about.file, shown, base };
    writeFileSync(this.path, text, { mode: OWNER_ONLY });
    writeFileSync(join(this.directory, ABOUT), JSON.stringify(this.#about), { mode: OWNER_ONLY });
  }

  /** Returns the present plaintext. An editor may have replaced the file. */
  read(): Buffer {
    return readFileSync(this.path);
  }

  /** Whether the plaintext was changed since it was shown. */
  isChanged(): boolean {
    return attempt(() => digestOf(this.read()) !== this.#about.shown) === true;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Returns a file name other than `ABOUT`, which the edited file may have as well; some file systems ignore case. */
const nameBeside = (name: string): string => (name.toLowerCase() === ABOUT ? `edited${name}` : name);

function aboutIn(json: string): About {
  const about: unknown = JSON.parse(json);
  if (!isObject(about)) throw new TypeError('not an object');
  const { file, base, shown } = about;
  if (typeof file !== 'string' || typeof shown !== 'string')
    throw new TypeError('missing field file or shown');
  return { file, shown, base: typeof base === 'string' ? String(base) : undefined };
}

const digestOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('base64');
