import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { builtCommand } from '../built.ts';

const command = builtCommand();
const sources = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

const run = (program: string, ...words: string[]): string =>
  spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' }).stdout;

/** Sources run unbundled know no version and no text drawn beforehand: they draw it with commander. */
describe('what the command answers without loading the rest of itself', () => {
  it.each([['--help'], ['-h']])('is what commander draws: %s', (word) => {
    expect(run(command, word)).toBe(run(sources, word));
    expect(run(command, word)).toContain('Usage: coffer [options] [command]');
  });

  it.each([['--version'], ['-V'], ['version']])('is the version: %s', (word) => {
    expect(run(command, word)).toMatch(/^coffer \d+\.\d+\.\d+\n$/);
  });

  it('fails as everything does when it can not be written', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [command, '--version'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, 'coffer: cannot write: no space left on device\n']);
  });
});
