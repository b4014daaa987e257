import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PARTS } from '../../scripts/bundle.ts';
import { builtCommand } from '../built.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

let place: Place;

/** Runs the command with only some of its parts beside it: loading another one fails. */
function run(parts: readonly string[], ...words: readonly string[]): string {
  const directory = place.file('installed');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, 'dist'), { recursive: true });
  cpSync(join(root, 'bin'), join(directory, 'bin'), { recursive: true });
  for (const part of parts) cpSync(join(root, 'dist', part), join(directory, 'dist', part));
  return execFileSync(process.execPath, [join(directory, 'bin/coffer'), ...words], {
    cwd: place.directory,
    env: place.environment({}),
    encoding: 'utf8',
  });
}

const words = (line: string): readonly string[] => line.split(' ');

beforeAll(() => {
  builtCommand();
  place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  for (const line of ['init -q', 'transit keys create orders -q', 'orgs create acme -q'])
    run(PARTS, ...words(line));
  writeFileSync(place.file('data.txt'), 'hello');
  writeFileSync(place.file('.env'), 'NAME=value\n');
});
afterAll(() => removePlace(place));

describe('the parts of the command', () => {
  it('are all in the package', () => {
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
    const listed = files.filter((name) => name.endsWith('.cjs'));
    expect(listed.sort()).toEqual(PARTS.map((part) => `dist/${part}`).sort());
  });

  it.each(['transit encrypt orders hello', 'exec -f .env -- true', '--version'])(
    'are not needed beside the first one by %s',
    (line) => {
      expect(() => run(['coffer.cjs'], ...words(line))).not.toThrow();
    },
  );

  it.each([
    ['everyday', 'transit keys list'],
    ['everyday', 'transit keys read orders'],
    ['everyday', 'transit keys rotate orders -q'],
    ['everyday', 'status'],
    ['everyday', 'orgs list'],
    ['everyday', 'tags list --org acme'],
    ['files', 'transit envelope encrypt orders --in data.txt --out data.enc -q'],
    ['help', 'transit keys --help'],
  ])('are not needed beside the first one and that of %s by %s', (part, line) => {
    expect(() => run(['coffer.cjs', `coffer-${part}.cjs`], ...words(line))).not.toThrow();
  });

  it('have one for tables alone', () => {
    const parts = ['coffer.cjs', 'coffer-everyday.cjs', 'coffer-table.cjs'];
    expect(run(parts, ...words('transit keys list -o table'))).toContain('orders');
  });
});
