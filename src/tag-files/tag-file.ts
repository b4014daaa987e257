/** Files that say which tags an organization has, and which workspace carries which: text in, text out. */

import type { CofferError } from '../ground/errors.ts';
import { invalid } from '../ground/errors.ts';

/** Keys with their values. */
export type Bindings = ReadonlyMap<string, string>;

/** What one workspace carries. */
export interface Carried {
  readonly tags: readonly string[];
  /** Undefined: the file says nothing of them. */
  readonly bindings?: Bindings;
  /** The name of its project; undefined: the file says nothing of it. */
  readonly project?: string;
}

/** What a file says, as it was written: no name is checked or folded here. */
export interface TagFile {
  /** Tags that are there whether a workspace carries them or not. */
  readonly tags: readonly string[];
  /** Each name once, in the order of the file. */
  readonly workspaces: ReadonlyMap<string, Carried>;
  /** What is bound to projects, and through them to their workspaces. */
  readonly projects?: ReadonlyMap<string, Bindings>;
  /** Patterns of the tags and keys that are this file's business; undefined: all are. */
  readonly owns?: readonly string[];
}

export type FormatName = 'csv' | 'json' | 'yaml';

export interface TagFormat {
  /**
   * @param file its name, for errors.
   * @throws `invalid` naming the file and the place in it.
   */
  parse(text: string, file: string): TagFile;
  print(content: TagFile): string;
}

export const refusedAt = (file: string, place: string, problem: string): CofferError =>
  invalid(place === '' ? `${file}: ${problem}` : `${file}: ${place}: ${problem}`);
