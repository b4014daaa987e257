import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { planVariables } from '../../../src/cli/processes/child-variables.ts';
import { withFiles } from '../../../src/cli/processes/value-files.ts';
import { dotenv } from '../../../src/secret-files/dotenv.ts';

/** What every object has, and a variable may be called as well. */
const NAMES = [...Object.getOwnPropertyNames(Object.prototype), '__proto__'];

describe('a variable that is called like something every object has', () => {
  it('is taken from a file', () => {
    const file = dotenv.parse(NAMES.map((name) => `${name}=x\n`).join(''), 'f');
    const plan = planVariables(process.env, {
      files: [{ path: 'f', format: dotenv, file }],
      only: [],
      overwrite: false,
    });
    expect(plan.kept).toEqual([]);
    expect(new Set(plan.sources.map(({ variable }) => variable))).toEqual(new Set(NAMES));
  });

  it('reaches the program, also as a file', () => {
    const variables = Object.fromEntries(NAMES.map((name) => [name, 'x']));
    const files = withFiles(process.env, variables, ['__proto__', 'constructor'], true);
    onTestFinished(files.remove);
    const { stdout } = spawnSync('/usr/bin/env', { env: files.variables, encoding: 'utf8' });
    const got = new Map(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => [line.split('=')[0], line.split('=')[1] ?? '']),
    );
    for (const name of ['__proto__', 'constructor'])
      expect(readFileSync(got.get(name) ?? '', 'utf8')).toBe('x');
    expect(got.get('toString')).toBe('x');
    expect(new Set(got.keys())).toEqual(new Set(NAMES));
    files.remove();
    expect(existsSync(got.get('constructor') ?? '')).toBe(false);
  });

  it('is none that could be put into a file when nothing gives it', () => {
    expect(() => withFiles(process.env, {}, ['constructor'], true)).toThrow('no variable constructor');
  });
});
