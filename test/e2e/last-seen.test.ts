import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServerProcess } from '../servers/server-process.ts';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

const WARNING =
  /^coffer: warning: the store was rolled back from generation (\d+), revision (\d+) to generation (\d+), revision (\d+) \(if you restored a backup on purpose, run "coffer store accept"; if not, the store was replaced with an older copy: restore the newer one\)$/m;

let here: Place;
beforeEach(async () => {
  here = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  await here.ok('init');
  await here.ok('transit keys create orders');
});
afterEach(() => removePlace(here));

const store = () => here.file('store');
const seen = () => here.file('.local/state/coffer/seen');
const files = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
const warningOf = async (line: string, place = here) => {
  const { exitCode, stderr } = await place.run(line);
  return [exitCode, WARNING.exec(stderr)?.slice(1).map(Number)];
};

/** Two rotations and a new root key later, the store is as it was before. */
async function goBack(): Promise<void> {
  cpSync(store(), here.file('past'), { recursive: true });
  await here.ok('transit keys rotate orders');
  await here.ok('rekey --yes');
  rmSync(store(), { recursive: true });
  renameSync(here.file('past'), store());
}

describe('a store that went back since the last command', () => {
  it('is warned of by every command, which works, until the older state is accepted', async () => {
    await goBack();
    const back = [0, [2, 3, 1, 1]];
    expect([
      await warningOf('transit encrypt orders value'),
      await warningOf('transit keys list'),
      await warningOf('status'),
    ]).toEqual([back, back, back]);
    expect((await here.run('-q transit encrypt orders value')).stderr).toBe('');
    // Neither does it forget what it saw when somebody goes on from there.
    for (let i = 0; i < 4; i++) await here.ok('transit keys rotate orders');
    expect(await warningOf('transit keys list')).toEqual([0, [2, 3, 1, 5]]);
    expect(await here.refused('store accept', 2)).toContain('--yes');
    const accepted = (await here.json('store accept --yes -q')) as { from: object; to: { revision: number } };
    expect(accepted).toMatchObject({ from: { generation: 1, revision: 5 }, to: { generation: 1 } });
    expect(accepted.to.revision).toBeGreaterThan(1e12);
    expect((await here.run('transit encrypt orders value')).stderr).toBe('');
    await here.ok('transit keys rotate orders');
    await here.ok('doctor');
    expect((await here.run('status')).stderr).toBe('');
  });

  it('is told of by a server that starts on it, too', async () => {
    await goBack();
    const server = await startServerProcess([binary, 'serve', '--socket', here.file('socket')], {
      environment: here.environment(),
    });
    await server.stop();
    expect(server.log()).toMatch(WARNING);
  });

  it('is not taken for a copy in another place, nor for a backup that was brought back by a command', async () => {
    await here.ok('store backup backup');
    await here.ok('transit keys rotate orders');
    cpSync(store(), here.file('copy'), { recursive: true });
    await here.ok('transit keys rotate orders');
    expect((await here.run('transit keys list --store copy')).stderr).toBe('');
    await here.ok('store copy store another');
    await here.ok('transit keys rotate orders');
    expect((await here.run('transit keys list --store another')).stderr).toBe('');
    rmSync(store(), { recursive: true });
    await here.ok('store restore backup');
    expect((await here.run('transit keys list')).stderr).toBe('');
    expect((await here.with({ COFFER_STORE: './store' }).run('transit keys list')).stderr).toBe('');
  });

  it('is not taken for one whose last numbers a power cut took back, with the changes themselves in place', async () => {
    const older = readFileSync(here.file('store/log/1'));
    await here.ok('transit keys rotate orders');
    await here.ok('transit keys rotate orders');
    for (const lost of ['log-1-2', 'log-1-1']) {
      renameSync(here.file('store/state/log-1-3'), here.file(`store/state/${lost}`));
      expect((await here.run('transit keys list')).stderr).toBe('');
    }
    renameSync(here.file('store/state/log-1-3'), here.file('store/state/log-1-1'));
    writeFileSync(here.file('store/log/1'), older);
    expect(await warningOf('transit keys list')).toEqual([0, [1, 3, 1, 1]]);
  });
});

describe('what was seen of stores last', () => {
  it('is one empty file for each, for this user alone, and changes with the revision only', async () => {
    expect(files(seen())).toEqual([expect.stringMatching(/^1-1-/)]);
    const [name = ''] = readdirSync(seen());
    const [file = ''] = files(seen());
    const path = join(seen(), name, file);
    expect([statSync(path).size, statSync(path).mode & 0o777, statSync(seen()).mode & 0o777]).toEqual([
      0, 0o600, 0o700,
    ]);
    const { ctimeMs } = statSync(path);
    await here.ok('transit encrypt orders value');
    expect(statSync(path).ctimeMs).toBe(ctimeMs);
    await here.ok('transit keys rotate orders');
    expect(files(seen())).toEqual([expect.stringMatching(/^1-2-/)]);
  });

  it('lies where XDG_STATE_HOME says', async () => {
    const place = here.with({ XDG_STATE_HOME: here.file('state') });
    await place.ok('transit keys list');
    expect(files(here.file('state/coffer/seen'))).toEqual([expect.stringMatching(/^1-1-/)]);
  });

  it('is not kept, without a word, where there is no home, or one that takes nothing', async () => {
    writeFileSync(here.file('a-file'), '');
    mkdirSync(here.file('taken/.local/state'), { recursive: true });
    writeFileSync(here.file('taken/.local/state/coffer'), 'something else');
    mkdirSync(here.file('locked'));
    chmodSync(here.file('locked'), 0o500);
    const homes = [
      undefined,
      '',
      'relative',
      here.file('a-file'),
      here.file('taken'),
      here.file('locked'),
      '/proc/self/fd',
    ];
    for (const HOME of homes) {
      const { exitCode, stderr } = await here.with({ HOME }).run('transit keys rotate orders');
      expect([HOME, exitCode, stderr]).toEqual([HOME, 0, '']);
    }
    expect(readdirSync(here.directory)).not.toContain('relative');
  });

  it('is neither lost nor damaged by commands at the same time', async () => {
    for (const isNew of [true, false]) {
      if (isNew) rmSync(seen(), { recursive: true });
      await here.shell('for i in 1 2 3 4 5 6 7 8; do coffer transit keys rotate orders & done; wait');
      const revisions = files(seen()).map((name) => Number(name.split('-')[1]));
      expect(Math.max(...revisions)).toBe(isNew ? 9 : 17);
      expect((await here.run('transit keys list')).stderr).toBe('');
    }
  });
});
