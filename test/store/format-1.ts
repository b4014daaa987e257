import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFormat } from '../../src/store/backends/files/header-format.ts';
import { intoDocuments } from './temporary-store.ts';

/** Turns a store into one of format 1, as older releases have it: all in the documents, and no log. */
export async function becomeFormat1(directory: string): Promise<void> {
  await intoDocuments(directory);
  rmSync(join(directory, 'log'), { recursive: true });
  const header = join(directory, 'coffer.json');
  writeFileSync(header, withFormat(readFileSync(header), 1));
  const state = join(directory, 'state');
  for (const name of readdirSync(state))
    renameSync(join(state, name), join(state, name.replace('log-', 'clean-')));
}
