import { createHash } from 'node:crypto';
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
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { repairStore } from '../../src/store/administration/repair.ts';
import { rekey } from '../../src/store/administration/slots.ts';
import { printJournal } from '../../src/store/backends/files/format-1/recovery.ts';
import { becomeFormat1 } from './format-1.ts';
import { at, contentOf, examined, mended, pathOf, repaired, smallStore } from './repairing.ts';
import { openWithKey, rawCredential, temporaryDirectory } from './temporary-store.ts';

let directory: string;
const in_ = (...path: string[]) => join(directory, ...path);

beforeEach(async () => {
  directory = await smallStore();
});

describe('the repair of a store', () => {
  it('does nothing to one that is well', async () => {
    const before = readdirSync(directory, { recursive: true });
    expect(await mended(directory)).toEqual([]);
    expect(readdirSync(directory, { recursive: true })).toEqual(before);
  });

  it('puts back a lost state file, with which an open store goes on once its owner has accepted it', async () => {
    const open = await openWithKey(directory);
    expect(await open.read((view) => view.get(at('one')))).toEqual({ id: 'one' });
    for (const file of readdirSync(in_('state'))) rmSync(in_('state', file));
    expect(await examined(directory)).toMatchObject([
      { file: directory, hint: expect.stringContaining('--repair') },
    ]);
    const before = await open.revision().catch(() => 'none');
    expect(before).toBe('none');
    expect(await mended(directory)).toEqual(['state']);
    await expect(open.revision()).rejects.toMatchObject({ kind: 'unavailable' });
    const other = await openWithKey(directory);
    expect(Number((await other.revision()).split('-')[1])).toBeGreaterThan(1);
    await other.accept(0);
    await other.transact((tx) => tx.put(at('one'), { id: 'changed' }));
    expect(await open.read((view) => view.get(at('one')))).toEqual({ id: 'changed' });
  });

  it('makes the whole directory of the state again', async () => {
    const before = await contentOf(directory);
    rmSync(in_('state'), { recursive: true });
    expect(await mended(directory)).toEqual(['state']);
    expect(await contentOf(directory)).toEqual(before);
  });

  it('makes no state for a store whose generations are all lost', async () => {
    for (const file of readdirSync(in_('state'))) rmSync(in_('state', file));
    rmSync(in_('generation-1'), { recursive: true });
    const { mended: done, examination } = await repaired(directory);
    expect(done).toEqual([]);
    expect(examination.findings).toMatchObject([
      {
        reason: expect.stringContaining('the state file is missing'),
        hint: expect.stringContaining('backup'),
      },
    ]);
    expect(readdirSync(in_('state'))).toEqual([]);
  });

  it('finishes a decided commit of format 1 whose state file is lost', async () => {
    const path = await pathOf(directory, { space: 'document', ...at('one') });
    await becomeFormat1(directory);
    const bytes = readFileSync(path);
    const store = await openWithKey(directory);
    await store.transact((tx) => tx.put(at('one'), { id: 'newer' }));
    store.close();
    await becomeFormat1(directory);
    const newer = readFileSync(path);
    writeFileSync(path, bytes);
    mkdirSync(in_('state', 'commit'), { mode: 0o700 });
    const ref = { area: 'documents', name: basename(path) } as const;
    writeFileSync(in_('state', 'commit', `documents-${ref.name}`), newer, { mode: 0o600 });
    const sha256 = createHash('sha256').update(newer).digest('hex');
    const journal = printJournal({ from: { generation: 1, revision: 2 }, entries: [{ ref, sha256 }] });
    writeFileSync(in_('state', 'commit', 'journal'), journal, { mode: 0o600 });
    rmSync(in_('state', 'clean-1-2'));
    expect(await mended(directory)).toContain('state');
    expect(readdirSync(in_('state'))).toEqual(['clean-1-3']);
    expect(await contentOf(directory)).toMatchObject({ 'things/one': { id: 'newer' } });
  });

  it.each(['damaged', 'of an earlier state', 'without one of its files'])(
    'ends an unfinished commit of format 1 whose journal is %s',
    async (how) => {
      const path = await pathOf(directory, { space: 'document', ...at('one') });
      const name = `documents-${basename(path)}`;
      await becomeFormat1(directory);
      const bytes = readFileSync(path);
      mkdirSync(in_('state', 'commit'), { mode: 0o700 });
      const lost = { ref: { area: 'documents', name: 'abcd' }, sha256: 'ab'.repeat(32) } as const;
      const whole = {
        ref: { area: 'documents', name: basename(path) },
        sha256: createHash('sha256').update(bytes).digest('hex'),
      } as const;
      const revision = how === 'of an earlier state' ? 0 : 1;
      const journal = printJournal({ from: { generation: 1, revision }, entries: [lost, whole] });
      writeFileSync(in_('state', 'commit', 'journal'), how === 'damaged' ? 'junk' : journal, { mode: 0o600 });
      writeFileSync(in_('state', 'commit', name), bytes, { mode: 0o600 });
      renameSync(in_('state', 'clean-1-1'), in_('state', 'dirty-1-1'));
      const before = await examined(directory);
      expect(before).toMatchObject([{ hint: expect.stringContaining('coffer doctor --repair') }]);
      await mended(directory);
      expect(readdirSync(in_('state'))).toEqual(['clean-1-2']);
      expect(Object.keys(await contentOf(directory))).toHaveLength(4);
    },
  );

  it('clears away what killed writers left, and says so', async () => {
    mkdirSync(in_('state', 'commit.new'));
    writeFileSync(in_('state', 'blob.new'), 'half');
    mkdirSync(in_('generation-2', 'documents'), { recursive: true });
    writeFileSync(in_('coffer.json.new'), 'half');
    expect(await mended(directory)).toEqual(['blob.new', 'coffer.json.new', 'commit.new', 'generation-2']);
    expect(readdirSync(directory).sort()).toEqual(['coffer.json', 'generation-1', 'lock', 'log', 'state']);
  });

  it('leaves what it does not know, and names it', async () => {
    writeFileSync(in_('notes.txt'), 'mine');
    const { mended: done, examination } = await repaired(directory);
    expect(done).toEqual([]);
    expect(examination.findings).toMatchObject([
      { file: in_('notes.txt'), reason: 'does not belong to the store' },
    ]);
    expect(existsSync(in_('notes.txt'))).toBe(true);
  });

  it('frees a lock with something in it', async () => {
    writeFileSync(in_('lock'), 'junk');
    expect(await examined(directory)).toMatchObject([
      { file: in_('lock'), reason: 'is damaged: it must be empty' },
    ]);
    expect(await mended(directory)).toEqual(['lock']);
    const store = await openWithKey(directory);
    await store.transact((tx) => tx.put(at('four'), {}));
  });

  it('makes a lock of an empty directory', async () => {
    rmSync(in_('lock'), { force: true });
    mkdirSync(in_('lock'));
    expect(await examined(directory)).toMatchObject([{ file: in_('lock') }]);
    expect(await mended(directory)).toEqual(['lock']);
    expect(statSync(in_('lock')).isFile()).toBe(true);
  });

  it('gives every directory and file its mode again, whatever it was', async () => {
    const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((path) => in_(path));
    for (const path of [directory, ...paths]) {
      const { mode } = statSync(path);
      for (const wrong of [0o777, 0o666, 0o720, 0o602, 0o000, ...(path === in_('lock') ? [0o640] : [])]) {
        chmodSync(path, wrong);
        const isRoot = process.geteuid?.() === 0;
        if (wrong !== 0 || isRoot)
          expect((await examined(directory)).map(({ file }) => file)).toContain(path);
        await mended(directory);
        expect(statSync(path).mode).toBe(mode);
      }
    }
  });
});

describe('the repair of a store in which a rekey was killed and the state was lost', () => {
  /** Both generations, as a rekey has them just before and after its switch. */
  async function twoGenerations(): Promise<void> {
    const aside = join(temporaryDirectory(), 'generation-1');
    cpSync(in_('generation-1'), aside, { recursive: true });
    const store = await openWithKey(directory);
    await rekey(store);
    store.close();
    cpSync(aside, in_('generation-1'), { recursive: true });
    chmodSync(in_('generation-1'), 0o700);
    for (const area of ['slots', 'documents']) chmodSync(in_('generation-1', area), 0o700);
    for (const file of readdirSync(in_('state'))) rmSync(in_('state', file));
  }

  it.each([
    ['1', 'half of 2 was written', 'generation-2', 'generation-1'],
    ['2', 'half of 1 was deleted', 'generation-1', 'generation-2'],
  ])('takes generation %s where %s', async (_, _how, half, whole) => {
    const before = await contentOf(directory);
    await twoGenerations();
    const documents = readdirSync(in_(half, 'documents'));
    for (const name of documents.slice(documents.length / 2)) rmSync(in_(half, 'documents', name));
    await mended(directory);
    expect(readdirSync(directory)).toContain(whole);
    expect(readdirSync(directory)).not.toContain(half);
    expect(await contentOf(directory)).toEqual(before);
  });

  it('takes the newer one when both are whole, and neither when both are not', async () => {
    await twoGenerations();
    const both = join(temporaryDirectory(), 'both');
    cpSync(directory, both, { recursive: true });
    await mended(directory);
    expect(readdirSync(directory)).toContain('generation-2');
    for (const generation of ['generation-1', 'generation-2']) {
      const [first = ''] = readdirSync(join(both, generation, 'documents'));
      rmSync(join(both, generation, 'documents', first));
    }
    const wrong = repairStore({ location: both, credentials: [rawCredential(Buffer.alloc(32, 9))] });
    await expect(wrong).rejects.toMatchObject({ kind: 'denied' });
    const { examination } = await repaired(both);
    expect(examination.findings.map(({ reason }) => reason).join()).toContain('neither is complete');
    expect(readdirSync(both)).toEqual(expect.arrayContaining(['generation-1', 'generation-2']));
  });
});
