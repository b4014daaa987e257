import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { seeded } from '../../seeded.ts';
import { DirectoryHere } from '../directory-here.ts';

const SAMPLES: Readonly<Record<string, string>> = {
  'f.env': '# comment\nA=one\nB="two"\n\nC=three # more\n',
  'f.yaml': '# comment\na: one\nb: "two"\nl:\n  - x\nc: three\n',
  'f.json': '{\n  "a": "one",\n  "b": "two",\n  "c": {"d": 1}\n}\n',
};
const MAX_BYTES = 2 ** 20;
const ROUNDS = 12;

/** Bytes of which some are no text, at places of a sample. */
function spoiled(sample: string, chance: ReturnType<typeof seeded>): Buffer {
  const bytes = Buffer.from(sample);
  const at = chance.below(bytes.length);
  const odd = Buffer.from(Array.from({ length: 1 + chance.below(3) }, () => 0x80 + chance.below(0x80)));
  return Buffer.concat([bytes.subarray(0, at), odd, bytes.subarray(at)]);
}

const firstName = (name: string): string => (name === 'f.env' ? 'A' : 'a');
const bytesOf = (here: DirectoryHere, name: string): Buffer => readFileSync(here.file(name));

describe.each(Object.entries(SAMPLES))('bytes of %s', (name, sample) => {
  it('that may be no text are kept by every command that writes, or the file is refused and stays as it is', async () => {
    const here = await DirectoryHere.withStore({ EDITOR: 'touch' });
    const chance = seeded(name);
    for (let round = 0; round < ROUNDS; round++) {
      const before = spoiled(sample, chance);
      here.write(name, before);
      const { exitCode } = await here.run(`secrets encrypt --key app ${name}`);
      if (exitCode === 0) await here.ok(`secrets decrypt ${name}`);
      expect(bytesOf(here, name)).toEqual(before);
      for (const line of [
        `secrets set ${name} new x --key app`,
        `secrets unset ${name} ${firstName(name)}`,
      ]) {
        const { exitCode: code } = await here.run(line);
        if (code !== 0) expect(bytesOf(here, name)).toEqual(before);
        here.write(name, before);
      }
      await here.run(`edit ${name}`);
      expect(bytesOf(here, name)).toEqual(before);
    }
  });

  it('that are no text are merged as git merges them, to the byte', async () => {
    const here = await DirectoryHere.withStore();
    const chance = seeded(name);
    for (let round = 0; round < ROUNDS; round++) {
      const base = spoiled(sample, chance);
      const lines = base.toString('latin1').split('\n');
      const changedAt = (index: number, text: string): Buffer =>
        Buffer.from(lines.map((line, at) => (at === index ? `${line}${text}` : line)).join('\n'), 'latin1');
      const sides = { base, ours: changedAt(0, ' \xe9'), theirs: changedAt(lines.length - 2, ' \xff') };
      for (const [side, bytes] of Object.entries(sides)) here.write(side, bytes);
      const words = [
        'merge-file',
        '-p',
        '-L',
        'ours',
        '-L',
        'before',
        '-L',
        'theirs',
        'ours',
        'base',
        'theirs',
      ];
      const wanted = spawnSync('git', words, { cwd: here.path });
      const { exitCode } = await here.run(['secrets', 'git-merge', '--', 'base', 'ours', 'theirs', name]);
      expect({ exitCode, bytes: bytesOf(here, 'ours') }).toEqual({
        exitCode: wanted.status === 0 ? 0 : 1,
        bytes: wanted.stdout,
      });
    }
  });
});

describe('a merge', () => {
  it('of more than a file of values may have is left to git, line by line', async () => {
    const here = await DirectoryHere.withStore();
    const filler = '# filler\n'.repeat(MAX_BYTES / 9 + 1);
    here.write('base', `A=1\nB=2\n${filler}`);
    here.write('ours', `A=2\nB=2\n${filler}`);
    here.write('theirs', `A=1\nB=3\n${filler}`);
    // Neighbouring lines are a conflict for git, and none for values.
    const { exitCode } = await here.run(['secrets', 'git-merge', '--', 'base', 'ours', 'theirs', 'f.env']);
    expect(exitCode).toBe(1);
    expect(here.read('ours')).toMatch(/^<<<<<<< ours\n/);
  });

  it('in an editor refuses a side that is no text, and writes nothing', async () => {
    const here = await DirectoryHere.withStore({ EDITOR: 'touch' });
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
        cwd: here.path,
        stdio: 'pipe',
      });
    git('init', '-q', '-b', 'main', '.');
    const commit = (content: string): void => {
      here.write('f.env', Buffer.from(content, 'latin1'));
      git('add', 'f.env');
      git('commit', '-qm', 'x');
    };
    commit('A=1\n');
    git('checkout', '-qb', 'other');
    commit('A=\xe9\n');
    git('checkout', '-q', 'main');
    commit('A=2\n');
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'merge', 'other'], { cwd: here.path });
    const before = '<<<<<<< HEAD\nA=2\n=======\nA=e\n>>>>>>> other\n';
    here.write('f.env', before);
    expect(await here.refused('edit f.env', 2)).toContain('f.env is not UTF-8');
    expect(here.read('f.env')).toBe(before);
  });
});
