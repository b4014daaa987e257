import { join, sep } from 'node:path';
import type { Area, BlobRef } from '../backend.ts';

export const HEADER = 'coffer.json';
/** Ends the name of a file that is not yet what its name says. */
export const STAGED = '.new';
const BLOB_FILE = /^([0-9a-f]{1,64})(\.json)?$/;
const GENERATION = /^generation-([1-9][0-9]{0,9})$/;

/** Where everything lies in a store directory. Described for people in docs/format.md. */
export class Layout {
  readonly directory: string;
  readonly header: string;
  readonly lock: string;
  readonly #prefix: string;

  constructor(directory: string) {
    this.directory = directory;
    this.#prefix = prefixOf(directory);
    this.header = `${this.#prefix}${HEADER}`;
    this.lock = `${this.#prefix}lock`;
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
 * What `join` puts before a name in a directory. It looks at every character of a path, so with the dozens of paths that a command
 * makes in a store it is called once.
 */
export const prefixOf = (directory: string): string => join(directory, '-').slice(0, -1);

/** Slots are JSON for people to look at; documents are only bytes. */
const blobFileName = (ref: BlobRef): string => (ref.area === 'slots' ? `${ref.name}.json` : ref.name);

/** The blob's name that a file name of an area stands for, or undefined for a file that isn't ours. */
export function parseBlobFileName(area: Area, fileName: string): string | undefined {
  const [, name, extension] = BLOB_FILE.exec(fileName) ?? [];
  return (extension !== undefined) === (area === 'slots') ? name : undefined;
}

/** The number of a generation's directory, or undefined for any other name. */
export function parseGeneration(name: string): number | undefined {
  const [, digits] = GENERATION.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
