import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isKeyring, refuseKeyringPlace } from '../../src/team/directory.ts';
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
      message: `${directory} has more than 50000 files, or more than 512 MiB`,
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
      message: `${join(directory, 'members')} is a symbolic link`,
    });
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(loadFacts(directory).blockers).toEqual(['members is a symbolic link']);
  });

  it('has its own settings for git, and a warning where these are others', () => {
    const path = join(directory, '.gitattributes');
    const text = readFileSync(path, 'utf8');
    const found = () => {
      const { strangers, blockers } = loadFacts(directory);
      return [[...strangers.keys()], blockers];
    };
    const blocked = [['.gitattributes'], ['.gitattributes may let git alter the files of the keyring']];
    expect(found()).toEqual([[], []]);
    writeFileSync(path, text.replaceAll('\n', '\r\n'));
    expect(found()).toEqual([[], []]);
    for (const other of [`${text}* eol=crlf\n`, '', text.replace('-text', 'text'), text + '\n'.repeat(200)]) {
      writeFileSync(path, other);
      expect(found()).toEqual(blocked);
    }
  });

  it('takes facts of another commit, and not the settings for git that are beside them', () => {
    const more = [
      [bob.path, Buffer.from(printFact(bob.message, 'AAAA'))],
      ['.gitattributes', Buffer.from('x')],
      ['notes', Buffer.from('x')],
    ] as const;
    const { facts, strangers, blockers } = loadFacts(directory, more);
    expect([[...facts.keys()], [...strangers.keys()], blockers]).toEqual([[bob.id], ['notes'], []]);
  });

  it('is known by what is in it', () => {
    const place = (...names: string[]): string => {
      const made = mkdtempSync(join(directory, 'place-'));
      for (const name of names) writeFileSync(join(made, name), '');
      return made;
    };
    const store = `store.${'a1'.repeat(16)}`;
    for (const names of [[store], ['members'], ['x', 'removals']])
      expect(isKeyring(place(...names))).toBe(true);
    for (const names of [[], ['x'], [`${store}0`], ['members.txt'], ['keys']])
      expect(isKeyring(place(...names))).toBe(false);
    writeFileSync(join(directory, 'file'), '');
    expect(['file', 'nowhere'].map((name) => isKeyring(join(directory, name)))).toEqual([false, false]);
  });

  it('is no place for a store, unless there is one already', () => {
    const at = (name: string): string => join(directory, name, '.coffer');
    for (const name of ['keyring', 'store']) mkdirSync(at(name), { recursive: true });
    writeFileSync(join(at('keyring'), 'members'), '');
    for (const allowed of [undefined, join(directory, 'keyring'), at('store'), 'postgresql://host/.coffer'])
      expect(() => refuseKeyringPlace(allowed)).not.toThrow();
    for (const name of ['keyring', 'nowhere'])
      expect(refusal(() => refuseKeyringPlace(at(name)))).toMatchObject({
        kind: 'invalid',
        message: `${at(name)} is reserved for the keyring of a repository and cannot be a store`,
      });
  });
});
