/** Files that define the tags of an organization and its workspaces: text in, text out. */

import { CofferError, invalid } from '../ground/errors.ts';

/** Keys with their values. */
export type KeyValues = ReadonlyMap<string, string>;

/** Tags of one workspace. */
export interface Carried {
  readonly tags: readonly string[];
  /** Key-value tags; undefined if the file does not define them. */
  readonly bindings?: KeyValues | undefined;
  /** Name of its project; undefined if the file does not define it. */
  readonly project?: string | undefined;
}

/** Content of a file as written: names are not validated or normalized. */
export interface TagFile {
  /** Tags of the pool, whether a workspace has them or not. */
  readonly tags: readonly string[];
  /** Workspaces by unique name, in the order of the file. */
  readonly workspaces: ReadonlyMap<string, Carried>;
  /** Bindings of projects, which their workspaces inherit. */
  readonly projects?: ReadonlyMap<string, KeyValues> | undefined;
  /** Patterns of the tags and keys that this file manages; undefined for all. */
  readonly owns?: readonly string[] | undefined;
}

export type TagFormatName = 'csv' | 'json' | 'yaml';

/** Functions that throw `invalid` for a name that no object can have, or a value that no key can have. */
export interface NameChecks {
  readonly tag: (name: string) => unknown;
  readonly workspace: (name: string) => unknown;
  readonly project?: (name: string) => unknown;
  readonly binding?: (key: string, value: string) => unknown;
}

export interface TagFormat {
  /**
   * Parses a file.
   * @param file its name, for errors
   * @param checks checks of names; default: none
   * @throws `invalid` naming the file and the place in it
   */
  parse(text: string, file: string, checks?: NameChecks): TagFile;
  print(content: TagFile): string;
}

export const refusedAt = (file: string, place: string, problem: string, hint?: string): CofferError =>
  invalid(place === '' ? `${file}: ${problem}` : `${file}: ${place}: ${problem}`, { hint });

/**
 * Checks a name.
 * @throws `invalid` naming the file and the place in it
 */
export function checkAt(file: string, place: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw error instanceof CofferError ? refusedAt(file, place, error.message, error.hint) : error;
  }
}
