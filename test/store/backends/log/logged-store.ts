import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { turn } from '../../../../src/ground/pause.ts';
import type { Blob, BlobRef, Change, Version } from '../../../../src/store/backends/backend.ts';
import { createFiles } from '../../../../src/store/backends/files/create-files.ts';
import { FilesBackend } from '../../../../src/store/backends/files/files-backend.ts';
import { nextPlace, parseHead } from '../../../../src/store/backends/files/log/format.ts';
import {
  isIntact,
  lengthOf,
  type ParsedRecord,
  parseList,
  printRecord,
} from '../../../../src/store/backends/files/log/records.ts';
import { printHeader } from '../../../../src/store/header.ts';
import { temporaryDirectory } from '../../temporary-store.ts';

async function* none(): AsyncGenerator<Blob> {}

export const document = (name: string): BlobRef => ({ area: 'documents', name });
export const put = (name: string, text: string): Change => ({
  ref: document(name),
  bytes: Buffer.from(text),
});
export const remove = (name: string): Change => ({ ref: document(name), bytes: undefined });

/** Header of a store, as it is in a backup. */
export const HEADER = printHeader({
  format: 1,
  id: '01234567-89ab-cdef-0123-456789abcdef',
  created: '2026-01-01T00:00:00Z',
});

/** A store that has only a log, and a handle of it. */
export async function loggedStore(options = {}): Promise<{ directory: string; backend: FilesBackend }> {
  const directory = join(temporaryDirectory(), 'store');
  await createFiles(directory, {
    header: HEADER,
    version: { generation: 1, revision: 0 },
    blobs: none(),
  });
  return { directory, backend: opened(directory, options) };
}

/** Another handle, as another process has it. */
export function opened(directory: string, options = {}): FilesBackend {
  const backend = new FilesBackend(directory, options);
  onTestFinished(() => backend.close());
  return backend;
}

export const commit = (backend: FilesBackend, ...changes: readonly Change[]): Promise<Version> =>
  backend.exclusive((session) => session.commit(changes));

/** Makes changes one after the other, each of one document. */
export async function commitMany(backend: FilesBackend, count: number, text = 'many'): Promise<void> {
  for (let i = 0; i < count; i++) await commit(backend, put(nameOf(i), `${text} ${i}`));
}

/** Makes changes like `commitMany`, but by handles that make too few of them to empty the log in the background. */
export async function commitQuietly(directory: string, count: number): Promise<void> {
  let backend: FilesBackend | undefined;
  for (let i = 0; i < count; i++) {
    if (i % FEW === 0) {
      backend?.close();
      backend = opened(directory);
    }
    if (backend !== undefined) await commit(backend, put(nameOf(i), `many ${i}`));
  }
}

const FEW = 7;

export const nameOf = (i: number): string => (i + 0x1000).toString(16);

/** What everybody who opens the store now finds: its revision, and its documents. */
export async function seenIn(
  directory: string,
): Promise<{ revision: number; documents: Record<string, string> }> {
  return seenBy(opened(directory));
}

export async function seenBy(
  backend: FilesBackend,
): Promise<{ revision: number; documents: Record<string, string> }> {
  const { generation, revision } = await backend.state();
  const documents: Record<string, string> = {};
  for (const name of (await backend.names(generation, 'documents')).sort()) {
    const bytes = await backend.read(generation, document(name));
    documents[name] = bytes === undefined ? 'missing' : Buffer.from(bytes).toString();
  }
  return { revision, documents };
}

export const stateOf = (directory: string): string => readdirSync(join(directory, 'state')).join();

/** Gives the state another name: as a power failure does, which loses a renaming. */
export const nameState = (directory: string, name: string): void =>
  renameSync(join(directory, 'state', stateOf(directory)), join(directory, 'state', name));

export const logFile = (directory: string, number = 1): string => join(directory, 'log', String(number));
export const logFiles = (directory: string): readonly string[] =>
  readdirSync(join(directory, 'log')).filter((name) => /^\d+$/.test(name));

/** Where the records of a file begin and end. */
export function recordsIn(path: string): readonly { readonly begin: number; readonly end: number }[] {
  const bytes = readFileSync(path);
  const found: { begin: number; end: number }[] = [];
  for (let at = 4096; ; ) {
    const length = lengthOf(bytes.subarray(at));
    if (length === undefined) return found;
    found.push({ begin: at, end: at + length });
    at = nextPlace(at + length);
  }
}

/**
 * Parses a record.
 * @param bytes exactly as long as the record says
 * @param before CRC-32 of the record or head before it
 * @returns undefined if it is torn, or was not written after what is before it
 */
export function parseRecord(bytes: Buffer, before: number): ParsedRecord | undefined {
  const record = parseList(bytes);
  return record?.before === before && record.entries.every((entry) => isIntact(entry, bytes))
    ? record
    : undefined;
}

/** Writes the last records of a file again as if they were of another boot of the machine. */
export function makeOlder(path: string, count = 1): void {
  const bytes = readFileSync(path);
  let before = parseHead(bytes)?.crc ?? 0;
  const records = recordsIn(path).map(({ begin, end }) => {
    const parsed = parseRecord(bytes.subarray(begin, end), before);
    if (parsed === undefined) throw new Error('there is no record');
    before = parsed.crc;
    return { begin, end, parsed };
  });
  const first = records.length - count;
  before = records[first]?.parsed.before ?? 0;
  for (const { begin, end, parsed } of records.slice(first)) {
    const changes = parsed.entries.map(({ ref, place }) => ({
      ref,
      bytes: place && Buffer.from(bytes.subarray(begin + place.offset, begin + place.offset + place.length)),
    }));
    printRecord({ ...parsed, changes, boot: Buffer.alloc(8, 0xee) }, before).copy(bytes, begin);
    before = parseRecord(bytes.subarray(begin, end), before)?.crc ?? 0;
  }
  writeFileSync(path, bytes);
}

/** Waits for work, while the time of faked timers passes. */
export async function passing<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  work
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  while (!isOver) {
    vi.advanceTimersByTime(1);
    await turn();
  }
  return work;
}
