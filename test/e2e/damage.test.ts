import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seeded } from '../seeded.ts';
import { flip } from './followed.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

let here: Place;

beforeEach(() => {
  here = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  here.ok('init');
  for (const name of ['one', 'two', 'three']) here.ok(`transit keys create ${name}`);
});
afterEach(() => removePlace(here));

const keys = (store = 'store'): string[] => here.ok(`transit keys list --store ${store}`).split('\n');

/** The file of what `command` needs, and `others` do not. */
function fileOf(command: string, ...others: readonly string[]): string {
  const directory = here.file('store/generation-1/documents');
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const bytes = readFileSync(path);
    rmSync(path);
    const isIt = here.run(command).exitCode !== 0 && others.every((other) => here.run(other).exitCode === 0);
    writeFileSync(path, bytes, { mode: 0o600 });
    if (isIt) return path;
  }
  throw new Error(`no file is needed for "${command}" alone`);
}

const fileOfKey = (): string => fileOf('transit keys read one', 'transit keys read two', 'transit keys list');
const fileOfIndex = (): string => fileOf('transit keys list', 'transit keys read one', 'mounts list');

describe('coffer doctor --repair', () => {
  it('makes a store whole whose state file is lost, and says so', () => {
    for (const name of readdirSync(here.file('store/state'))) rmSync(here.file(`store/state/${name}`));
    here.refused('transit keys list', 1);
    expect(here.run('doctor').exitCode).toBe(1);
    const { exitCode, stderr } = here.run('doctor --repair');
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`Mended: ${here.file('store/state')} has the file again`),
    });
    expect(keys()).toEqual(['one', 'three', 'two']);
    here.ok('transit keys create four');
    expect(here.run('doctor --repair').stderr).toContain('There was nothing to mend');
  });

  it.each([
    ['deleted', (path: string) => rmSync(path)],
    ['flipped', flip],
  ])('makes a store whole whose index was %s', (_, damage) => {
    const path = fileOfIndex();
    damage(path);
    here.refused('transit keys list', 1);
    here.refused('transit keys create four', 1);
    const repair = here.json('doctor --repair') as object;
    expect(repair).toMatchObject({ findings: [], mended: [{ file: path }] });
    expect(keys()).toEqual(['one', 'three', 'two']);
    here.ok('transit keys create four');
  });

  it('changes nothing without its word, and finds the lock and the modes all the same', () => {
    writeFileSync(here.file('store/lock'), 'junk');
    chmodSync(here.file('store/generation-1/documents'), 0o733);
    chmodSync(here.file('store/lock'), 0o666);
    const { exitCode, stdout } = here.run('doctor -o json');
    expect(exitCode).toBe(1);
    const files = (JSON.parse(stdout) as { findings: { file: string }[] }).findings.map(({ file }) => file);
    expect(new Set(files)).toEqual(
      new Set([here.file('store/lock'), here.file('store/generation-1/documents')]),
    );
    expect(readFileSync(here.file('store/lock'), 'utf8')).toBe('junk');
    here.ok('doctor --repair');
    here.ok('transit keys create four');
    expect(statSync(here.file('store/lock'))).toMatchObject({ size: 0 });
    expect(statSync(here.file('store/lock')).mode & 0o777).toBe(0o600);
  });

  it('names a document that is lost, and ends with 1 until it is given up', () => {
    const path = fileOfKey();
    rmSync(path);
    for (const line of ['doctor', 'doctor --repair', 'doctor']) {
      const { exitCode, stdout } = here.run(line);
      expect(exitCode).toBe(1);
      expect(stdout).toMatch(
        new RegExp(`${basename(path)}\tis missing \\(document one of transit/.*/keys\\)`),
      );
    }
    expect(here.refused('transit keys read one', 1)).toContain(path);
    here.ok('rekey --without-damaged');
    here.ok('doctor');
    expect(keys()).toEqual(['three', 'two']);
    here.ok('transit keys create one');
  });
});

describe('damage in a store', () => {
  const ways: readonly (readonly [string, (path: string) => void])[] = [
    ['deleted', (path) => rmSync(path)],
    ['flipped', flip],
    ['emptied', (path) => writeFileSync(path, '')],
  ];
  const takers: readonly (readonly [string, string])[] = [
    ['store backup bad.coffer', 'bad.coffer'],
    ['store copy store copied', 'copied/coffer.json'],
    ['store restore unverified.coffer --store restored', 'restored'],
    ['rekey', 'store/generation-2'],
  ];

  it.each(takers)('is named by "coffer %s", which makes nothing of it', (line, made) => {
    const path = fileOfKey();
    const chance = seeded();
    chance.pick(ways)[1](path);
    here.ok('store backup unverified.coffer --unverified');
    const refusal = here.refused(line, 1);
    expect(refusal).toContain(basename(path));
    expect(refusal).toContain('--without-damaged');
    expect(existsSync(here.file(made))).toBe(false);
    expect(readdirSync(here.directory).filter((name) => name.endsWith('.new'))).toEqual([]);
    expect(here.run(`${line} --without-damaged`)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('left out: '),
    });
    if (line.includes('backup')) here.ok('store restore bad.coffer --store restored');
    const store = made === 'store/generation-2' ? 'store' : line.includes('copy') ? 'copied' : 'restored';
    here.ok(`doctor --store ${store}`);
    expect(keys(store)).toEqual(['three', 'two']);
  });

  it.each(takers)('of an index, and of a slot, is named by "coffer %s", each file on a line', (line) => {
    const index = fileOfIndex();
    flip(index);
    const spare = here.ok('slots add --raw');
    const slots = here.file('store/generation-1/slots');
    const [own] = here.json('slots list') as { id: string }[];
    const other = readdirSync(slots).find((name) => name !== `${own?.id}.json`) ?? '';
    rmSync(join(slots, other));
    here.ok('store backup unverified.coffer --unverified');
    const { exitCode, stderr } = here.run(line);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(basename(index));
    expect(stderr).toContain(other.slice(0, 16));
    expect(stderr.trimEnd().split('\n')).toHaveLength(3);
    here.ok(`${line} --without-damaged`);
    expect(spare).not.toBe('');
  });

  it('leaves the last good backup as it is, whatever is asked for', () => {
    here.ok('store backup good.coffer');
    const good = readFileSync(here.file('good.coffer'));
    flip(fileOfKey());
    for (const more of ['', ' --without-damaged', ' --unverified']) {
      here.refused(`store backup good.coffer${more}`, 6);
      expect(readFileSync(here.file('good.coffer'))).toEqual(good);
    }
    here.refused('store backup good.coffer --force', 1);
    expect(readFileSync(here.file('good.coffer'))).toEqual(good);
  });

  it('in a store without any is not found: a copy, a backup and a restore are the same, byte for byte', () => {
    here.ok('store copy store copied');
    here.ok('store backup good.coffer');
    here.ok('store restore good.coffer --store restored');
    const content = (store: string) =>
      readdirSync(here.file(store), { recursive: true, encoding: 'utf8' })
        .filter((name) => name !== 'lock' && statSync(here.file(join(store, name))).isFile())
        .map((name) => [name, readFileSync(here.file(join(store, name)), 'hex')])
        .sort();
    expect(content('copied')).toEqual(content('store'));
    expect(content('restored')).toEqual(content('store'));
  });

  it('is not looked for with a wrong secret', () => {
    const wrong = here.with({ COFFER_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') });
    here.ok('store backup good.coffer');
    for (const line of ['store backup b', 'store copy store copied', 'store restore good.coffer --store r'])
      wrong.refused(line, 4);
    expect(existsSync(here.file('b'))).toBe(false);
  });
});
