import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { topics } from '../src/cli/help-topics.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const tested = [...readme.matchAll(/<!-- tested -->\n```(sh|ts)\n([\s\S]*?)```/g)].map((match) => ({
  language: match[1],
  code: match[2] ?? '',
}));
let directory = '';

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-readme-'));
  cpSync(join(root, 'README.md'), join(directory, 'README.md'));
  mkdirSync(join(directory, 'bin'));
  symlinkSync(join(root, 'bin/coffer'), join(directory, 'bin/coffer'));
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(root, join(directory, 'node_modules/coffer'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the README', () => {
  it('names every variable that the command knows', () => {
    const known =
      topics
        .get('environment')?.()
        .match(/COFFER_[A-Z_]+/g) ?? [];
    expect(known).toContain('COFFER_SHARES_FILE');
    expect(
      known.filter((name) => !readme.includes(`\`${name}\``) && !readme.includes(`export ${name}=`)),
    ).toEqual([]);
  });

  it('shows commands that work when typed one after another in a fresh shell, and a program that runs', () => {
    const commands = tested.filter((block) => block.language === 'sh').map((block) => block.code);
    const programs = tested.filter((block) => block.language === 'ts').map((block) => block.code);
    expect(commands.length).toBeGreaterThan(5);
    expect(programs).toHaveLength(1);
    writeFileSync(join(directory, 'example.mjs'), programs.join('\n'));
    const stopWhatItStarts = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT";
    const script = ['set -euo pipefail', stopWhatItStarts, ...commands, 'node example.mjs'].join('\n');
    const path = [join(directory, 'bin'), dirname(process.execPath), process.env['PATH']].join(':');
    const output = execFileSync('bash', ['-c', script], {
      cwd: directory,
      env: { PATH: path, HOME: directory },
      encoding: 'utf8',
    });
    expect(output).toContain('credit card 4242');
    expect(output).toContain('untouched');
    expect(output).toContain('env:prod');
    expect(output).toContain('attack at dawn');
    expect(output).toMatch(/"ciphertext":"service:v2:/);
  });
});
