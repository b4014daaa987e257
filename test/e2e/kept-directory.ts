import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { isLong } from '../long.ts';

interface Entry {
  readonly path: string;
  readonly mode: number;
  readonly changed: Date;
  /** Of a file its bytes, of a link where it leads. */
  readonly bytes?: Buffer;
  readonly target?: string;
}

/** What is in a directory now, to be made again at the same path. Files of it may say where they are. */
export class KeptDirectory {
  readonly path: string;
  readonly #entries: readonly Entry[];

  constructor(path: string) {
    this.path = path;
    this.#entries = readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) =>
      entryAt(path, name),
    );
  }

  /** Makes it, where nothing is. */
  make(): void {
    mkdirSync(this.path, { mode: 0o700 });
    for (const { path, mode, changed, bytes, target } of this.#entries) {
      const made = join(this.path, path);
      mkdirSync(dirname(made), { recursive: true });
      if (target !== undefined) symlinkSync(target, made);
      else if (bytes === undefined) mkdirSync(made, { mode, recursive: true });
      else {
        writeFileSync(made, bytes, { mode });
        utimesSync(made, changed, changed);
      }
    }
  }
}

/**
 * What makes a directory for each test of a file, one at a time: by commands for the first one, and then as it was after them, at the same path,
 * except in the long proof.
 * @param directoryOf the path, of what was made
 */
export function madeOnce<Made>(
  make: () => Promise<Made>,
  directoryOf: (made: Made) => string,
): () => Promise<Made> {
  let first: { readonly made: Made; readonly kept: KeptDirectory } | undefined;
  return async () => {
    if (first === undefined || isLong) {
      const made = await make();
      first = { made, kept: new KeptDirectory(directoryOf(made)) };
      return made;
    }
    const { made, kept } = first;
    onTestFinished(() => rmSync(kept.path, { recursive: true, force: true }));
    kept.make();
    return made;
  };
}

function entryAt(directory: string, path: string): Entry {
  const found = join(directory, path);
  const about = lstatSync(found);
  const entry = { path, mode: about.mode & 0o777, changed: about.mtime };
  if (about.isSymbolicLink()) return { ...entry, target: readlinkSync(found) };
  return about.isDirectory() ? entry : { ...entry, bytes: readFileSync(found) };
}
