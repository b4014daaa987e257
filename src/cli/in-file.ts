import { closeSync, fstatSync, openSync } from 'node:fs';
import { CofferError } from '../errors.ts';
import { type Input, inputFrom } from './streams.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'part of the path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** A file being read. */
export interface InFile extends Input {
  /** Its size when it was opened; undefined for a pipe or a device. */
  readonly bytes: number | undefined;
  close(): void;
}

/** @throws `invalid` naming the field when there is no file that could be read. */
export function openInFile(path: string, field: string): InFile {
  try {
    const descriptor = openSync(path, 'r');
    const stat = fstatSync(descriptor);
    if (stat.isDirectory()) {
      closeSync(descriptor);
      throw Object.assign(new Error(path), { code: 'EISDIR' });
    }
    const input = inputFrom(descriptor);
    return {
      isTerminal: false,
      readAll: (maxBytes) => input.readAll(maxBytes),
      read: (into) => input.read(into),
      bytes: stat.isFile() ? stat.size : undefined,
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    const code = String((error as { readonly code?: unknown } | null)?.code);
    throw new CofferError('invalid', `can't read ${path}: ${REASONS[code] ?? code}`, { field, cause: error });
  }
}

/** The whole content of a file, of at most `maxBytes`. */
export function readFileWhole(path: string, field: string, maxBytes: number): Buffer {
  const file = openInFile(path, field);
  try {
    return file.readAll(maxBytes);
  } finally {
    file.close();
  }
}
