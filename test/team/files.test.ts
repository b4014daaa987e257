import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { printFact } from '../../src/team/fact.ts';
import { loadFacts, makeKeyring, writeFact } from '../../src/team/files.ts';
import { refusal } from '../refusal.ts';
import { World } from './world.ts';

let directory = '';
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'coffer-facts-')), 'team');
  makeKeyring(directory);
});
afterEach(() => rmSync(join(directory, '..'), { recursive: true }));

const sparse = (path: string, bytes: number): void => {
  writeFileSync(path, '');
  truncateSync(path, bytes);
};

describe('the directory of a keyring', () => {
  const world = new World();
  const bob = world.member(world.first, 'bob');

  it('has facts of at most 1 MiB', () => {
    const bytes = printFact(bob.message, 'AAAA').length;
    for (const { path, message } of [world.first, bob]) {
      mkdirSync(join(directory, path, '..'), { recursive: true });
      writeFileSync(join(directory, path), printFact(message, 'AAAA'));
    }
    writeFileSync(join(directory, bob.path), printFact(bob.message, 'A'.repeat(2 ** 20 - bytes + 4)));
    expect([...loadFacts(directory).facts.keys()].sort()).toEqual([world.first.id, bob.id].sort());
    writeFileSync(join(directory, bob.path), printFact(bob.message, 'A'.repeat(2 ** 20 - bytes + 5)));
    expect([...loadFacts(directory).strangers]).toEqual([[bob.path, 'is more than 1 MiB']]);
    // Of a process that was killed while it wrote.
    writeFileSync(join(directory, `${bob.path}.new`), 'coffer team 1 mem');
    expect(loadFacts(directory).strangers.size).toBe(1);
  });

  it('is refused when its files are more than 512 MiB, of each of which 1 MiB counts at most', () => {
    for (let count = 0; count < 512; count++) sparse(join(directory, `f${count}`), 2 ** 21);
    expect(loadFacts(directory).strangers.size).toBe(512);
    sparse(join(directory, 'one'), 1);
    expect(refusal(() => loadFacts(directory))).toMatchObject({
      kind: 'conflict',
      message: `${directory} has too many files`,
    });
  });

  it('is read four directories deep', () => {
    const deep = join(directory, 'a/b/c/d/e');
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, '../f'), 'x');
    writeFileSync(join(deep, 'f'), 'x');
    expect([...loadFacts(directory).strangers.keys()]).toEqual(['a/b/c/d/f']);
  });

  it('gets no fact through a link', () => {
    const elsewhere = join(directory, '../elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(directory, 'members'));
    expect(refusal(() => writeFact(directory, bob.message, 'AAAA'))).toMatchObject({
      kind: 'conflict',
      message: `${join(directory, 'members')} is a link`,
    });
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(loadFacts(directory).blockers).toEqual(['members is a link']);
  });
});
