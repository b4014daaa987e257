import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findInstalled, findProgram } from '../../../src/cli/files/program.ts';

const base = mkdtempSync(join(tmpdir(), 'coffer-programs-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const [first, second] = [join(base, 'first'), join(base, 'second')];
const PATH = `${first}:${second}`;

beforeAll(() => {
  for (const directory of [first, second]) mkdirSync(directory);
  symlinkSync('tool', join(first, 'tool'));
  mkdirSync(join(first, 'folder'));
  for (const name of ['tool', 'folder', 'text']) writeFileSync(join(second, name), '');
  for (const name of ['tool', 'folder']) chmodSync(join(second, name), 0o755);
});

describe.each([
  ['any program', (name: string) => findProgram(name, { PATH })],
  [
    'an installed program',
    (name: string) => {
      const path = findInstalled(name, { PATH });
      return path === undefined ? { kind: 'not-found' } : { kind: 'program', path };
    },
  ],
])('the search for %s', (_, find) => {
  it.each(['tool', 'folder'])(
    'goes on where %s cannot be one, be it a link to itself or a directory',
    (name) => {
      expect(find(name)).toEqual({ kind: 'program', path: join(second, name) });
    },
  );

  it('finds nothing that does not exist', () => {
    expect(find('other')).toEqual({ kind: 'not-found' });
  });
});

describe('an installed program', () => {
  it('has to be executable', () => {
    expect(findInstalled('text', { PATH })).toBeUndefined();
    expect(findProgram('text', { PATH })).toEqual({ kind: 'not-executable', path: join(second, 'text') });
  });

  it('is found neither in the working directory nor in one relative to it, nor without a PATH', () => {
    expect(findInstalled('tool', { PATH: `:.:${relative(process.cwd(), second)}` })).toBeUndefined();
    expect(findInstalled('sh', {})).toBeUndefined();
  });
});
