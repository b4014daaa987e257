import { join, sep } from 'node:path';
import type { Area, BlobRef } from '../backend.ts';

export const HEADER = 'coffer.json';
/** Suffix of unfinished files. */
export const STAGED = '.new';
/** Suffix of files that a repair of the log keeps, and that nothing reads. */
export const KEPT = '.damaged';
const BLOB_FILE = /^([0-9a-f]{1,64})(\.json)?$/;
const GENERATION = /^generation-([1-9][0-9]{0,9})$/;

/** Paths in a store directory. Documented in docs/format.md. */
export class Layout {
  readonly directory: string;
  readonly header: string;
  readonly lock: string;
  /** Directory of the log. */
  readonly log: string;
  /** Lock of whoever moves changes from the log to the documents. */
  readonly logLock: string;
  /** File that the next one of the log is made from. */
  readonly spare: string;
  readonly #prefix: string;

  constructor(directory: string) {
    this.directory = directory;
    this.#prefix = prefixOf(directory);
    this.header = `${this.#prefix}${HEADER}`;
    this.lock = `${this.#prefix}lock`;
    this.log = `${this.#prefix}log`;
    this.logLock = `${this.log}${sep}lock`;
    this.spare = `${this.log}${sep}spare`;
  }

  logFile(number: number): string {
    return `${this.log}${sep}${number}`;
  }

  /** File whose name says that the documents have what was in the files of the log before this one. */
  firstMark(number: number): string {
    return `${this.log}${sep}first-${number}`;
  }

  generation(generation: number): string {
    return `${this.#prefix}generation-${generation}`;
  }

  area(generation: number, area: Area): string {
    return `${this.#prefix}generation-${generation}${sep}${area}`;
  }

  blob(generation: number, ref: BlobRef): string {
    return `${this.area(generation, ref.area)}${sep}${blobFileName(ref)}`;
  }
}

/**
 * Returns the prefix that `join` puts before a name in a directory. `join` scans every character of a path, and a
 * command uses dozens of paths in a store, so it is called only once.
 */
export const prefixOf = (directory: string): string => join(directory, '-').slice(0, -1);

/** Returns the path of a name in a directory whose path was normalized by `join`; much faster than `join`. */
export const pathIn = (directory: string, name: string): string => `${directory}${sep}${name}`;

/** Returns the file name of a blob. Slots are JSON, so that people can read them; documents are opaque bytes. */
const blobFileName = (ref: BlobRef): string => (ref.area === 'slots' ? `${ref.name}.json` : ref.name);

/** Returns the blob name of a file name in an area; undefined for any other file. */
export function parseBlobFileName(area: Area, fileName: string): string | undefined {
  const [, name, extension] = BLOB_FILE.exec(fileName) ?? [];
  return (extension !== undefined) === (area === 'slots') ? name : undefined;
}

/** Returns the number of a generation's directory; undefined for any other name. */
export function parseGeneration(name: string): number | undefined {
  const [, digits] = GENERATION.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
