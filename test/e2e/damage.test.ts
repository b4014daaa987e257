import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inTurn } from '../in-turn.ts';
import { seeded } from '../seeded.ts';
import { intoDocuments } from '../store/temporary-store.ts';
import { flip } from './followed.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { typedAt } from './typed.ts';

let here: Place;

beforeEach(async () => {
  here = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  await here.ok('init');
  for (const name of ['one', 'two', 'three']) await here.ok(`transit keys create ${name}`);
  await intoDocuments(here.file('store'));
});
afterEach(() => removePlace(here));

const keys = async (store = 'store'): Promise<string[]> =>
  (await here.ok(`transit keys list --store ${store}`)).split('\n');

/** The file of what `command` needs, and `others` do not. */
async function fileOf(command: string, ...others: readonly string[]): Promise<string> {
  const directory = here.file('store/generation-1/documents');
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const bytes = readFileSync(path);
    rmSync(path);
    const [exitCode, ...ofOthers] = await inTurn(
      [command, ...others],
      async (line) => (await here.run(line)).exitCode,
    );
    const isIt = exitCode !== 0 && ofOthers.every((code) => code === 0);
    writeFileSync(path, bytes, { mode: 0o600 });
    if (isIt) return path;
  }
  throw new Error(`no file is needed for "${command}" alone`);
}

const fileOfKey = (): Promise<string> =>
  fileOf('transit keys read one', 'transit keys read two', 'transit keys list');
const fileOfIndex = (): Promise<string> =>
  fileOf('transit keys list', 'transit keys read one', 'mounts list');

describe('coffer doctor --repair', () => {
  it('makes a store whole whose state file is lost, and says so', async () => {
    for (const name of readdirSync(here.file('store/state'))) rmSync(here.file(`store/state/${name}`));
    await here.refused('transit keys list', 1);
    expect((await here.run('doctor')).exitCode).toBe(1);
    const { exitCode, stderr } = await here.run('doctor --repair');
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(
        `Repaired: ${here.file('store/state')} has a new state file in place of the missing one`,
      ),
    });
    expect(await keys()).toEqual(['one', 'three', 'two']);
    await here.ok('transit keys create four');
    expect((await here.run('doctor --repair')).stderr).toContain('Nothing to repair');
  });

  it('keeps everything that a damaged log can still show', async () => {
    await here.ok('transit keys create four');
    await here.ok('transit keys create five');
    const log = readdirSync(here.file('store/log')).find((name) => /^\d+$/.test(name)) ?? '';
    const path = here.file(`store/log/${log}`);
    const bytes = readFileSync(path);
    // In the first record, before its list of blobs: the blobs are as they were.
    bytes.writeUInt8(bytes.readUInt8(4096 + 16) ^ 1, 4096 + 16);
    writeFileSync(path, bytes);
    const refusal = await here.refused('transit keys read one', 1);
    expect(refusal).toContain(`${path} is damaged at offset 4096`);
    expect(refusal).toContain('run "coffer doctor --repair": it keeps everything that can still be read');
    const { stdout } = await here.run('doctor');
    expect(stdout).toContain(`${path} is damaged at offset 4096`);
    const { exitCode } = await here.run('doctor --repair');
    expect(exitCode).toBe(0);
    expect(await keys()).toEqual(['five', 'four', 'one', 'three', 'two']);
  });

  it('ends with 1 when changes are lost with a file of the log, and does not call that repaired', async () => {
    await here.ok('transit keys create four');
    const log = readdirSync(here.file('store/log')).filter((name) => /^\d+$/.test(name));
    for (const name of log) rmSync(here.file(`store/log/${name}`));
    expect((await here.run('doctor')).stdout).toContain('put the file back; if you cannot, run');
    const { exitCode, stdout, stderr } = await here.run('doctor --repair');
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      '\tis missing: its changes are lost\tmake these changes again, or restore a backup',
    );
    expect(stderr).not.toMatch(/^Repaired: .* lost/m);
    expect(stderr).not.toContain('no problems found');
    expect(await keys()).toEqual(['one', 'three', 'two']);
    await here.ok('doctor');
    await here.ok('transit keys create four');
  });

  it.each([
    ['deleted', (path: string) => rmSync(path)],
    ['flipped', flip],
  ])('makes a store whole whose index was %s', async (_, damage) => {
    const path = await fileOfIndex();
    damage(path);
    await here.refused('transit keys list', 1);
    await here.refused('transit keys create four', 1);
    const repair = (await here.json('doctor --repair')) as object;
    expect(repair).toMatchObject({ findings: [], mended: [{ file: path }] });
    expect(await keys()).toEqual(['one', 'three', 'two']);
    await here.ok('transit keys create four');
  });

  it('changes nothing without its word, and finds the lock and the modes all the same', async () => {
    writeFileSync(here.file('store/lock'), 'junk');
    chmodSync(here.file('store/generation-1/documents'), 0o733);
    chmodSync(here.file('store/lock'), 0o666);
    const { exitCode, stdout } = await here.run('doctor -o json');
    expect(exitCode).toBe(1);
    const files = (JSON.parse(stdout) as { findings: { file: string }[] }).findings.map(({ file }) => file);
    expect(new Set(files)).toEqual(
      new Set([here.file('store/lock'), here.file('store/generation-1/documents')]),
    );
    expect(readFileSync(here.file('store/lock'), 'utf8')).toBe('junk');
    await here.ok('doctor --repair');
    await here.ok('transit keys create four');
    expect(statSync(here.file('store/lock'))).toMatchObject({ size: 0 });
    expect(statSync(here.file('store/lock')).mode & 0o777).toBe(0o600);
  });

  it('shows a damaged key with this word in the list of keys on a terminal, and only its name in a pipe', async () => {
    flip(await fileOfKey());
    const { stdout } = await typedAt(here, 'transit keys list', { columns: 100 });
    expect(stdout).toMatch(/│ one +│ damaged +│ +│ +│/);
    expect(stdout).toMatch(/│ two +│ aes256-gcm96 +│ 1 /);
    expect(await keys()).toEqual(['one', 'three', 'two']);
  });

  it('names a document that is lost, and ends with 1 until it is given up', async () => {
    const path = await fileOfKey();
    rmSync(path);
    for (const line of ['doctor', 'doctor --repair', 'doctor']) {
      const { exitCode, stdout } = await here.run(line);
      expect(exitCode).toBe(1);
      expect(stdout).toMatch(new RegExp(`${basename(path)}\tis missing \\(it holds key one\\)`));
    }
    expect(await here.refused('transit keys read one', 1)).toContain(path);
    const kept = await typedAt(here, 'rekey --without-damaged', { answers: [false], columns: 1000 });
    expect(kept).toMatchObject({ exitCode: 1, asked: ['Permanently delete the content of this file?'] });
    expect(kept.stderr).toMatch(/ lost: .* is missing \(it holds key one\)\nNo changes made\.\n$/);
    expect((await here.run('doctor')).exitCode).toBe(1);
    const dropped = await typedAt(here, 'rekey --without-damaged', { answers: [true], columns: 1000 });
    expect(dropped).toMatchObject({ exitCode: 0, asked: ['Permanently delete the content of this file?'] });
    await here.ok('doctor');
    expect(await keys()).toEqual(['three', 'two']);
    // Nothing is lost, so nothing is asked; in a pipe the option alone is the answer.
    expect(await typedAt(here, 'rekey --without-damaged')).toMatchObject({ exitCode: 0, asked: [] });
    await here.ok('rekey --without-damaged');
    await here.ok('transit keys create one');
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

  it.each(takers)('is named by "coffer %s", which makes nothing of it', async (line, made) => {
    const path = await fileOfKey();
    const chance = seeded();
    chance.pick(ways)[1](path);
    await here.ok('store backup unverified.coffer --unverified');
    const refusal = await here.refused(line, 1);
    expect(refusal).toContain(basename(path));
    const consequence = line === 'rekey' ? 'permanently drop what is lost' : 'skip what is lost';
    expect(refusal).toContain(`use --without-damaged to ${consequence}`);
    expect(existsSync(here.file(made))).toBe(false);
    expect(readdirSync(here.directory).filter((name) => name.endsWith('.new'))).toEqual([]);
    expect(await here.run(`${line} --without-damaged`)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(line === 'rekey' ? 'dropped: ' : 'skipped: '),
    });
    if (line.includes('backup')) await here.ok('store restore bad.coffer --store restored');
    const store = made === 'store/generation-2' ? 'store' : line.includes('copy') ? 'copied' : 'restored';
    await here.ok(`doctor --store ${store}`);
    expect(await keys(store)).toEqual(['three', 'two']);
  });

  it.each(takers)(
    'of an index, and of a slot, is named by "coffer %s", each file on a line',
    async (line) => {
      const index = await fileOfIndex();
      flip(index);
      const spare = await here.ok('slots add --raw');
      await intoDocuments(here.file('store'));
      const slots = here.file('store/generation-1/slots');
      const [own] = (await here.json('slots list')) as { id: string }[];
      const other = readdirSync(slots).find((name) => name !== `${own?.id}.json`) ?? '';
      rmSync(join(slots, other));
      await here.ok('store backup unverified.coffer --unverified');
      const { exitCode, stderr } = await here.run(line);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(basename(index));
      expect(stderr).toContain(other.slice(0, 16));
      expect(stderr.trimEnd().split('\n')).toHaveLength(3);
      await here.ok(`${line} --without-damaged`);
      expect(spare).not.toBe('');
    },
  );

  it('leaves the last good backup as it is, whatever is asked for', async () => {
    await here.ok('store backup good.coffer');
    const good = readFileSync(here.file('good.coffer'));
    flip(await fileOfKey());
    for (const more of ['', ' --without-damaged', ' --unverified']) {
      await here.refused(`store backup good.coffer${more}`, 6);
      expect(readFileSync(here.file('good.coffer'))).toEqual(good);
    }
    await here.refused('store backup good.coffer --force', 1);
    expect(readFileSync(here.file('good.coffer'))).toEqual(good);
  });

  it('is not what a killed backup left, which the next one to the same file names', async () => {
    const now = Date.now() / 1000;
    for (const [name, age] of [
      ['kept.coffer.1f3a90c2.new', 3600],
      ['kept.coffer.00000000.new', 5],
      ['other.coffer.1f3a90c2.new', 3600],
      ['kept.coffer.notes.new', 3600],
    ] as const) {
      writeFileSync(here.file(name), '');
      utimesSync(here.file(name), now - age, now - age);
    }
    const { exitCode, stderr } = await here.run('store backup ./kept.coffer');
    expect([exitCode, stderr]).toEqual([
      0,
      'coffer: warning: kept.coffer.1f3a90c2.new is probably left over from a killed backup (delete it if no backup to ./kept.coffer is running)\nBacked up the store to ./kept.coffer (7 files). The same secrets unlock it.\n',
    ]);
  });

  it('in a store without any is not found: a copy, a backup and a restore are the same, byte for byte', async () => {
    await here.ok('store copy store copied');
    await here.ok('store backup good.coffer');
    await here.ok('store restore good.coffer --store restored');
    const content = (store: string) =>
      readdirSync(here.file(store), { recursive: true, encoding: 'utf8' })
        .filter((name) => !/^(lock|log\/.*)$/.test(name) && statSync(here.file(join(store, name))).isFile())
        .map((name) => [name, readFileSync(here.file(join(store, name)), 'hex')])
        .sort();
    expect(content('copied')).toEqual(content('store'));
    expect(content('restored')).toEqual(content('store'));
  });

  it('is not looked for with a wrong secret', async () => {
    const wrong = here.with({ COFFER_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') });
    await here.ok('store backup good.coffer');
    for (const line of ['store backup b', 'store copy store copied', 'store restore good.coffer --store r'])
      await wrong.refused(line, 4);
    expect(existsSync(here.file('b'))).toBe(false);
  });
});
