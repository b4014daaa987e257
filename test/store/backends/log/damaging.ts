import { readFileSync, writeFileSync } from 'node:fs';
import { checkpoint } from '../../../../src/store/backends/files/log/checkpoint.ts';
import { parseHead, printHead } from '../../../../src/store/backends/files/log/format.ts';
import { commit, document, loggedStore, opened, put, remove } from './logged-store.ts';

/** Documents as they were acknowledged; undefined for a deleted one. */
export type Documents = ReadonlyMap<string, string | undefined>;

export interface History {
  readonly directory: string;
  /** Documents after each change, and before the first. */
  readonly after: readonly Documents[];
}

/** A store whose documents are partly in the log, partly in files, partly in both. */
export async function withHistory(): Promise<History> {
  const { directory, backend } = await loggedStore();
  await commit(
    backend,
    put('0a', 'in its file'),
    put('0b', 'in its file, and deleted in the log'),
    put('01', 'old'),
  );
  while ((await checkpoint(directory, { isIdle: true })) === 'done');
  const changes = [
    [put('01', 'one')],
    [put('02', 'two'), put('03', 'three')],
    [remove('0b')],
    [put('02', 'two again')],
    [put('04', 'a'.repeat(500)), put('05', 'five'), remove('03')],
    [put('01', 'one again')],
    [put('06', 'six')],
  ];
  let present: Documents = new Map([
    ['0a', 'in its file'],
    ['0b', 'in its file, and deleted in the log'],
    ['01', 'old'],
  ]);
  const after = [present];
  for (const each of changes) {
    await commit(backend, ...each);
    present = new Map([...present, ...each.map(({ ref, bytes }) => [ref.name, bytes?.toString()] as const)]);
    after.push(present);
  }
  backend.close();
  return { directory, after };
}

/** What a reader finds of each document: its text, undefined if it is deleted, or the refusal. */
export async function found(
  directory: string,
  names: Iterable<string>,
): Promise<Map<string, string | undefined | Error>> {
  const reader = opened(directory);
  const shown = new Map<string, string | undefined | Error>();
  const state = await reader.state().catch((error: unknown) => error);
  for (const name of names) {
    try {
      if (state instanceof Error) throw state;
      const bytes = await reader.read(1, document(name));
      shown.set(name, bytes && Buffer.from(bytes).toString());
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      shown.set(name, error);
    }
  }
  reader.close();
  return shown;
}

/** Flips a bit of a file. @returns its content before */
export function flipped(path: string, position: number, bit: number): Buffer {
  const bytes = readFileSync(path);
  const whole = Buffer.from(bytes);
  bytes.writeUInt8(bytes.readUInt8(position) ^ (1 << bit), position);
  writeFileSync(path, bytes);
  return whole;
}

/** Makes a file of the log one of another store. */
export function estrange(path: string): void {
  const bytes = readFileSync(path);
  const { head } = parseHead(bytes) ?? {};
  if (head === undefined) throw new Error('there is no head');
  printHead({ ...head, storeId: Buffer.alloc(16, 0xab) }).copy(bytes);
  writeFileSync(path, bytes);
}
