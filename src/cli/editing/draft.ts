import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isObject, when } from '../../ground/objects.ts';
import type { Environment } from '../given.ts';
import { leftovers, makeMemoryDirectory } from '../memory/memory-directory.ts';

/** What `edit` calls its directories in memory. */
const PURPOSE = 'edit';
/** Beside the plaintext: of which file it is, and what that was when the plaintext was made of it. */
const ABOUT = '.coffer-edit.json';
const OWNER_ONLY = 0o600;

interface About {
  readonly file: string;
  /** The file as it was, encrypted; undefined when there was none. */
  readonly base?: string;
  /** Digest of the plaintext that was shown: what still has it was not edited. */
  readonly shown: string;
}

/** A file's plaintext in memory, while it is edited, and after that when it could not be taken over. */
export class Draft {
  /** Of the plaintext: with the name of the file, by which editors know what is in it. */
  readonly path: string;
  readonly directory: string;
  #about: About;

  private constructor(directory: string, about: About) {
    this.directory = directory;
    this.path = join(directory, nameBeside(basename(about.file)));
    this.#about = about;
  }

  /** @throws as `makeMemoryDirectory`. */
  static make(environment: Environment, file: string, onDisk: boolean): Draft {
    const { path } = makeMemoryDirectory(environment, PURPOSE, onDisk);
    return new Draft(path, { file, shown: '' });
  }

  /** What an edit of a file left that has ended without taking its text over. What nobody has changed is removed. */
  static kept(environment: Environment, file: string): Draft | undefined {
    const drafts = leftovers(environment)
      .filter(({ purpose }) => purpose === PURPOSE)
      .flatMap(({ path }) => Draft.#found(path) ?? []);
    for (const draft of drafts) if (!draft.isChanged()) draft.remove();
    return drafts.find((draft) => draft.#about.file === file && draft.isChanged());
  }

  /** Undefined, and gone, for one that was ended before anything was shown. */
  static #found(directory: string): Draft | undefined {
    try {
      return new Draft(directory, aboutIn(readFileSync(join(directory, ABOUT), 'utf8')));
    } catch {
      rmSync(directory, { recursive: true, force: true });
      return undefined;
    }
  }

  get base(): string | undefined {
    return this.#about.base;
  }

  /**
   * Puts a plaintext there, for the editor. The first one is nobody's work yet; one after that has in it what was typed.
   * @param base the encrypted file that it was made of; undefined when there is none.
   */
  show(text: string, base: string | undefined): void {
    const shown = this.#about.shown === '' ? digestOf(text) : this.#about.shown;
    this.#about = { file: this.#about.file, shown, ...when(base !== undefined, { base }) };
    writeFileSync(this.path, text, { mode: OWNER_ONLY });
    writeFileSync(join(this.directory, ABOUT), JSON.stringify(this.#about), { mode: OWNER_ONLY });
  }

  /** The plaintext as it is now. An editor may have put another file in its place. */
  read(): Buffer {
    return readFileSync(this.path);
  }

  /** Whether somebody has changed the plaintext since it was shown. */
  isChanged(): boolean {
    try {
      return digestOf(this.read()) !== this.#about.shown;
    } catch {
      return false;
    }
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Not the name of `ABOUT`, which a file may bear, too; on some systems in any case. */
const nameBeside = (name: string): string => (name.toLowerCase() === ABOUT ? `edited${name}` : name);

function aboutIn(json: string): About {
  const about: unknown = JSON.parse(json);
  if (!isObject(about)) throw new TypeError('no object');
  const { file, base, shown } = about;
  if (typeof file !== 'string' || typeof shown !== 'string') throw new TypeError('not what is written there');
  return { file, shown, ...when(typeof base === 'string', { base: String(base) }) };
}

const digestOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('base64');
