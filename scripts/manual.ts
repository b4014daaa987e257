/**
 * Writes the manual pages to `dist/man`. Their date is SOURCE_DATE_EPOCH, in seconds since 1970, otherwise that of the
 * last commit.
 * @see docs/decisions/0224
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { epochOf } from './epoch.ts';
import { manualPages } from './manual/pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const directory = join(root, 'dist', 'man');

rmSync(directory, { recursive: true, force: true });
const pages = await manualPages({ version, epoch: epochOf(root) });
for (const [name, text] of pages) {
  const folder = join(directory, `man${name.slice(name.lastIndexOf('.') + 1)}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}
process.stdout.write(`${directory} (${pages.size} pages)\n`);
