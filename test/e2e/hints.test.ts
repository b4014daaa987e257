import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { initStore } from '../../src/store/administration/init.ts';
import { becomeFormat1 } from '../store/format-1.ts';
import { intoDocuments } from '../store/temporary-store.ts';
import { allIsWell, flip, named } from './followed.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

const source = fileURLToPath(new URL('../../src/store', import.meta.url));

let bare: Place;
let here: Place;
let other: Place;

beforeEach(() => {
  bare = emptyPlace();
  here = bare.with({ COFFER_MASTER_KEY: MASTER_KEY });
});
afterEach(() => removePlace(bare));

/** A store with a key and a backup, that also opens with another secret. */
async function furnished(): Promise<void> {
  await here.ok('init');
  await here.ok('transit keys create orders');
  other = bare.with({ COFFER_MASTER_KEY: await here.ok('slots add --raw') });
  await here.ok('store backup good.coffer');
  await intoDocuments(here.file('store'));
}

const paths = (part: string): string[] =>
  readdirSync(here.file(part), { recursive: true, encoding: 'utf8' })
    .map((name) => here.file(join(part, name)))
    .filter((path) => statSync(path).isFile());
const documents = () => paths('store/generation-1/documents');
const slotIds = () => readdirSync(here.file('store/generation-1/slots')).map((name) => name.slice(0, 16));

/** Damages each document in turn until `line` fails. @returns what it said. */
async function damagedUntil(
  line: string,
  fails: (stderr: string) => boolean | Promise<boolean>,
): Promise<{ path: string; refusal: string }> {
  for (const path of documents()) {
    const intact = readFileSync(path);
    flip(path);
    const { exitCode, stderr } = await here.run(line);
    if (exitCode !== 0 && (await fails(stderr))) return { path, refusal: stderr };
    writeFileSync(path, intact);
  }
  throw new Error(`nothing that "${line}" needs could be damaged`);
}

/** The id of the slot that the master key of `here` opens. */
async function ownSlot(): Promise<string> {
  const [{ id = '' } = {}] = (await here.json('slots list')) as { id: string }[];
  return id;
}

interface Case {
  /** What is true for whoever follows it. */
  readonly title: string;
  /** The hint's text in the source. */
  readonly hint: string;
  follow(): void | Promise<void>;
}

const REPAIR = '\'run "coffer doctor --repair" to repair what can be repaired and list what is lost\'';

const repaired = async (refusal: string): Promise<void> => {
  expect((await here.run(named(refusal, 'doctor --repair'))).exitCode).toBe(0);
  await allIsWell(here);
  expect(await here.ok('transit keys list')).toContain('orders');
};

const cases: readonly Case[] = [
  {
    title: 'a missing state file is put back by the command that is named',
    hint: REPAIR,
    async follow() {
      await furnished();
      for (const path of paths('store/state')) rmSync(path);
      await repaired(await here.refused('transit keys list', 1));
    },
  },
  {
    title: 'a damaged index is made anew by the command that is named',
    hint: REPAIR,
    async follow() {
      await furnished();
      const isWhole = async () => (await here.run('transit keys read orders')).exitCode === 0;
      await repaired((await damagedUntil('transit keys list', isWhole)).refusal);
    },
  },
  {
    title: 'a lock with junk in it is freed by the command that is named',
    hint: REPAIR,
    async follow() {
      await furnished();
      writeFileSync(here.file('store/lock'), 'junk that is no lock');
      await repaired(await here.refused('transit keys rotate orders', 1));
    },
  },
  {
    title: 'a journal of format 1 that is damaged is ended by the command that is named',
    hint: REPAIR,
    async follow() {
      await furnished();
      await becomeFormat1(here.file('store'));
      const [state = ''] = paths('store/state');
      renameSync(state, state.replace('clean', 'dirty'));
      mkdirSync(here.file('store/state/commit'), { mode: 0o700 });
      writeFileSync(here.file('store/state/commit/journal'), 'junk', { mode: 0o600 });
      await repaired(await here.refused('transit keys rotate orders', 1));
    },
  },
  {
    title: 'a damaged header is replaced by bringing back a backup elsewhere',
    hint: '\'restore a backup to a new location with "coffer store restore FILE --store DIRECTORY"\'',
    async follow() {
      await furnished();
      flip(here.file('store/coffer.json'));
      const command = named(
        await here.refused('transit keys list', 1),
        'store restore FILE --store DIRECTORY',
      );
      await here.ok(command.replace('FILE', 'good.coffer').replace('DIRECTORY', 'again'));
      await allIsWell(here.with({ COFFER_STORE: here.file('again') }));
    },
  },
  {
    title: 'a part of the directory that is missing is replaced by bringing back a backup elsewhere',
    hint: '\'restore a backup to a new location with "coffer store restore FILE --store DIRECTORY"\'',
    async follow() {
      await furnished();
      for (const lost of ['coffer.json', 'generation-1', 'generation-1/slots', 'generation-1/documents']) {
        const whole = here.file('whole');
        cpSync(here.file('store'), whole, { recursive: true });
        rmSync(here.file(join('store', lost)), { recursive: true });
        const refusal = (await here.run('transit keys list')).stderr;
        const command = named(refusal, 'store restore FILE --store DIRECTORY');
        await here.ok(
          command.replace('FILE', 'good.coffer').replace('DIRECTORY', `again-${lost.replace('/', '-')}`),
        );
        rmSync(here.file('store'), { recursive: true });
        renameSync(whole, here.file('store'));
      }
    },
  },
  {
    title: 'the last slot that is lost is replaced by bringing back a backup elsewhere',
    hint: '\'restore a backup to a new location with "coffer store restore FILE --store DIRECTORY"\'',
    async follow() {
      await furnished();
      for (const path of paths('store/generation-1/slots')) rmSync(path);
      const command = named(
        await here.refused('transit keys list', 1),
        'store restore FILE --store DIRECTORY',
      );
      await here.ok(command.replace('FILE', 'good.coffer').replace('DIRECTORY', 'again'));
      await allIsWell(here.with({ COFFER_STORE: here.file('again') }));
    },
  },
  {
    title: 'a lost document is given up by the command that doctor names, and the rest is whole',
    hint: '`…, or drop what is lost with "coffer rekey --without-damaged"`',
    async follow() {
      await furnished();
      await here.ok('transit keys create lost');
      await intoDocuments(here.file('store'));
      await damagedUntil(
        'transit keys read lost',
        async () => (await here.run('transit keys list')).exitCode === 0,
      );
      const { stdout } = await here.run('doctor --repair');
      await here.ok(named(stdout, 'rekey --without-damaged'));
      await allIsWell(here);
      expect((await here.ok('transit keys list')).split('\n')).toEqual(['orders', 'the-next']);
    },
  },
  {
    title: 'a damaged slot is removed and added again by the commands that are named',
    hint: '`unlock with another slot, run "coffer slots remove …", and add it again with "coffer slots add"`',
    async follow() {
      await furnished();
      const id = await ownSlot();
      flip(here.file(`store/generation-1/slots/${id}.json`));
      const refusal = await here.refused('transit keys list', 1);
      await other.ok(`${named(refusal, `slots remove ${id}`)} --yes`);
      await other.ok(`${named(refusal, 'slots add')} --raw`);
      await allIsWell(other);
    },
  },
  {
    title: 'a slot that is missing is named by doctor, removed and added again',
    hint: '`unlock with another slot, run "coffer slots remove …", and add it again with "coffer slots add"`',
    async follow() {
      await furnished();
      const id = await ownSlot();
      rmSync(here.file(`store/generation-1/slots/${id}.json`));
      expect(await here.refused('doctor', 4)).toContain(
        'its key slot may be missing: run this again with another secret',
      );
      const { stdout } = await other.run('doctor');
      expect(stdout).toContain(`${id}.json`);
      await other.ok(`${named(stdout, `slots remove ${id}`)} --yes`);
      await other.ok(`${named(stdout, 'slots add')} --raw`);
      await allIsWell(other);
    },
  },
  {
    title: 'a lost list of several slots is made anew with the one that is used',
    hint: '\'if the store has only one key slot, run "coffer doctor --repair"; otherwise run "coffer rekey --without-damaged", which keeps only the slot that you unlock with\'',
    async follow() {
      await furnished();
      await damagedUntil('slots list', () => true);
      expect((await here.run('doctor --repair')).exitCode).toBe(1);
      await here.ok(named((await here.run('doctor')).stdout, 'rekey --without-damaged'));
      await allIsWell(here);
      expect(await here.json('slots list')).toHaveLength(1);
    },
  },
  {
    title: 'a lost list of the only slot is made anew by the repair',
    hint: '\'if the store has only one key slot, run "coffer doctor --repair"; otherwise run "coffer rekey --without-damaged", which keeps only the slot that you unlock with\'',
    async follow() {
      await here.ok('init');
      await here.ok('transit keys create orders');
      await intoDocuments(here.file('store'));
      await damagedUntil('slots list', () => true);
      await repaired((await here.run('doctor')).stdout);
    },
  },
  {
    title: 'a planted slot is removed by the command that is named',
    hint: '`an attacker may have added this key slot: remove it with "coffer slots remove …", and check which users can write to the store`',
    async follow() {
      await furnished();
      const foreign = bare.with({ COFFER_STORE: bare.file('foreign'), COFFER_MASTER_KEY: MASTER_KEY });
      await foreign.ok('init');
      const [slot = ''] = paths('foreign/generation-1/slots');
      const id = slot.slice(-21, -5);
      cpSync(slot, here.file(`store/generation-1/slots/${id}.json`));
      const command = named(await other.refused('slots list', 1), `slots remove ${id}`);
      await here.ok(`${command} --yes`);
      await allIsWell(here);
    },
  },
  {
    title: 'ids of slots are shown by the command that is named',
    hint: '\'see "coffer slots list"\'',
    async follow() {
      await furnished();
      expect(
        await here.ok(named(await here.refused('slots remove 0000000000000000 --yes', 3), 'slots list')),
      ).toContain(slotIds()[0] ?? '');
    },
  },
  {
    title: 'the last slot is removed once another was added by the command that is named',
    hint: '\'add another with "coffer slots add" first\'',
    async follow() {
      await here.ok('init');
      const id = await ownSlot();
      const command = named(await here.refused(`slots remove ${id} --yes`, 1), 'slots add');
      const added = bare.with({ COFFER_MASTER_KEY: await here.ok(`${command} --raw`) });
      await added.ok(`slots remove ${id} --yes`);
      await allIsWell(added);
    },
  },
  {
    title: 'a slot is added to a store that has very many once another was removed',
    hint: '\'remove one that is no longer needed with "coffer slots remove ID"\'',
    async follow() {
      const keys = [Buffer.from(MASTER_KEY, 'base64'), ...Array.from({ length: 63 }, () => randomBytes(32))];
      const slots = keys.map((key) => ({ kind: 'raw', key }) as const);
      await initStore({ location: here.file('store'), slots });
      const own = await ownSlot();
      const command = named(await here.refused('slots add --raw', 1), 'slots remove ID');
      await here.ok(`${command.replace('ID', slotIds().find((id) => id !== own) ?? '')} --yes`);
      await here.ok('slots add --raw');
      await allIsWell(here);
    },
  },
  {
    title: 'a wrong master key is replaced by one that the command makes',
    hint: '\'an existing store needs its own key; for a new store, create one with "coffer keygen"\'',
    async follow() {
      const wrong = bare.with({ COFFER_MASTER_KEY: 'too short' });
      const made = await bare.ok(named(await wrong.refused('init', 2), 'keygen'));
      await bare.with({ COFFER_MASTER_KEY: made }).ok('init');
      writeFileSync(bare.file('short'), 'x', { mode: 0o600 });
      const file = bare.with({
        COFFER_MASTER_KEY_FILE: bare.file('short'),
        COFFER_STORE: bare.file('second'),
      });
      const key = bare.file('short.new');
      await bare.ok(named(await file.refused('init', 2), `keygen --out ${key}`));
      await bare.with({ COFFER_MASTER_KEY_FILE: key, COFFER_STORE: bare.file('second') }).ok('init');
    },
  },
  {
    title: 'a store that is not there is made by the command that is named',
    hint: '\'run "coffer init" to create one, or use --store or COFFER_STORE\'',
    async follow() {
      await here.ok(named(await here.refused('transit keys list', 3), 'init'));
      await allIsWell(here);
    },
  },
  {
    title: 'a file that is no backup is replaced by one that the command makes',
    hint: '\'use a file written by "coffer store backup FILE"\'',
    async follow() {
      await furnished();
      writeFileSync(here.file('notes'), 'no backup');
      const command = named(await here.refused('store restore notes --store again', 1), 'store backup FILE');
      await here.ok(command.replace('FILE', 'fresh.coffer'));
      await here.ok('store restore fresh.coffer --store again');
      await allIsWell(here.with({ COFFER_STORE: here.file('again') }));
    },
  },
];

describe('a hint of the store that is followed', () => {
  it.each(cases)('$title, when one does as the hint says', ({ follow }) => follow());

  it('lets go on, when a store that others can write is given its mode again', async () => {
    await furnished();
    for (const path of ['store', 'store/coffer.json', 'store/state', 'store/generation-1/documents']) {
      chmodSync(here.file(path), 0o777);
      const [, command = ''] = /"(chmod go-w [^"]+)"/.exec(await here.refused('transit keys list', 1)) ?? [];
      expect((await here.shell(command)).exitCode).toBe(0);
    }
    await allIsWell(here);
  });

  it('lets a backup be made that must not replace another, or may', async () => {
    await furnished();
    expect(await here.refused('store backup good.coffer', 6)).toContain('use --force to overwrite it');
    await here.ok('store backup another.coffer');
    await here.ok('store backup good.coffer --force');
    await here.ok('store restore good.coffer --store again');
  });

  it('lets a backup be made without a secret, when that is said', async () => {
    await furnished();
    expect(await bare.refused('store backup sealed.coffer', 4)).toContain('or use --unverified');
    await bare.ok('store backup sealed.coffer --unverified');
    await here.ok('store restore sealed.coffer --store again');
    expect(existsSync(here.file('again/coffer.json'))).toBe(true);
  });
});

/** Followed in hints-postgres.test.ts. */
const databaseHints = [
  '\'run "coffer init" to create one\'',
  '\'run "coffer store migrate" as a role that may create and alter the tables\'',
  '\'grant the role USAGE on the schema and SELECT, INSERT, UPDATE and DELETE on the tables created by "coffer store migrate"\'',
];

/**
 * Followed in test/service/rollback.test.ts, damage.test.ts, and in test/store: repair.test.ts, slots/planted.test.ts,
 * backends/upgrade.test.ts and backends/log/room.test.ts.
 */
const elsewhere = [
  '\'if you restored a backup on purpose, run "coffer store accept"; if not, the store was replaced with an older copy: restore the newer one\'',
  '\'has a new state file in place of the missing one; running servers continue only after "coffer store accept" or a restart\'',
  '\'slot files may have been planted: unlock with a master key or key file, and remove those listed by "coffer doctor"\'',
  '\'run "coffer doctor --repair": it keeps everything that can still be read\'',
  '\'try again; if that does not help, run "coffer doctor"\'',
  '\'had been repaired by an older release without the changes in the log; these changes are in the store again; running servers continue only after "coffer store accept" or a restart\'',
];

it('every hint of the store that names a command is followed by a test', () => {
  const followed = new Set([
    ...cases.map(({ hint }) => hint),
    ...databaseHints,
    ...elsewhere,
    // After a disk that failed, in test/faults; of other files, in missing-names.test.ts. Doctor tells what there is to do.
    '\'do not create it again: check it with "coffer doctor"\'',
    '\'the directory has other files: use --store or COFFER_STORE to name the directory of a store, or run "coffer init --store DIR" to create one\'',
    '\'check the disk, then run "coffer doctor"\'',
  ]);
  const hints = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap(
      (path) => readFileSync(join(source, path), 'utf8').match(/(['`])(?:(?!\1).)*"coffer .*?\1/g) ?? [],
    );
  const texts = hints.map((hint) => hint.replace(/\$\{\w+\}/g, '…'));
  expect([...new Set(texts)].sort()).toEqual([...followed].sort());
});
