/** Logs that are there in part: cut anywhere, an older one put back, the log without the documents, and these without it. */
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkpoint } from '../../../../src/store/backends/files/log/checkpoint.ts';
import { FIRST_RECORD, HEAD_BYTES } from '../../../../src/store/backends/files/log/format.ts';
import { isLong } from '../../../long.ts';
import { seeded } from '../../../seeded.ts';
import { temporaryDirectory } from '../../temporary-store.ts';
import { type Documents, found, type History, withHistory } from './damaging.ts';
import { commit, logFile, loggedStore, opened, put, recordsIn } from './logged-store.ts';

/** Nobody is shown what was not the last content, writers are refused, and the doctor says why. */
async function isRefused(directory: string, latest: Documents): Promise<void> {
  for (const [name, text] of await found(directory, latest.keys()))
    if (!(text instanceof Error)) expect(text, name).toBe(latest.get(name));
  await expect(commit(opened(directory), put('0f', 'new'))).rejects.toMatchObject({ kind: 'corrupt' });
  expect(await opened(directory).flaws()).not.toEqual([]);
}

/** A repair leaves what was whole, says what is lost, and the store goes on. */
async function isRepaired(directory: string, expected: Documents): Promise<void> {
  const mended = await opened(directory).repair(async () => 1);
  expect(mended.map(({ done }) => done).join()).toMatch(/is lost|are lost|are not used/);
  expect(await found(directory, expected.keys())).toEqual(expected);
  await commit(opened(directory), put('0f', 'goes on'));
  expect((await found(directory, ['0f'])).get('0f')).toBe('goes on');
}

const latestOf = ({ after }: History): Documents => after.at(-1) ?? new Map();

/** With all names, of which some are not there yet. */
const withAll = (documents: Documents, latest: Documents): Documents =>
  new Map([...latest.keys()].map((name) => [name, documents.get(name)]));

describe('a log', () => {
  it('that is cut at any byte shows nothing older than was acknowledged, and is repaired up to the cut', async () => {
    const history = await withHistory();
    const latest = latestOf(history);
    const records = recordsIn(logFile(history.directory, 2));
    const end = records.at(-1)?.end ?? 0;
    const chance = seeded();
    // Within the head, between it and the first record, and anywhere among the records.
    const some = Array.from(
      { length: isLong ? 40 : 3 },
      () => FIRST_RECORD + chance.below(end - FIRST_RECORD),
    );
    for (const length of [chance.below(HEAD_BYTES), 2000, ...some]) {
      const directory = join(temporaryDirectory(), 'store');
      cpSync(history.directory, directory, { recursive: true });
      truncateSync(logFile(directory, 2), length);
      await isRefused(directory, latest);
      const whole = records.filter((record) => record.end <= length).length;
      await isRepaired(directory, withAll(history.after[whole] ?? new Map(), latest));
    }
  });

  it('of which an older copy was put back shows nothing older than was acknowledged, and its repair loses no content', async () => {
    const { directory, backend } = await loggedStore();
    const latest = new Map<string, string>();
    const copies: string[] = [];
    for (const [i, text] of ['one', 'two', 'three', 'four', 'five'].entries()) {
      const copy = join(temporaryDirectory(), 'log');
      cpSync(join(directory, 'log'), copy, { recursive: true });
      copies.push(copy);
      const name = i < 2 ? '00' : `0${i % 2}`;
      await commit(backend, put(name, text));
      latest.set(name, text);
      if (i === 2) expect(await checkpoint(directory, { isIdle: true })).toBe('done');
    }
    backend.close();
    let keptOnce = false;
    for (const copy of copies) {
      const other = join(temporaryDirectory(), 'store');
      cpSync(directory, other, { recursive: true });
      rmSync(join(other, 'log'), { recursive: true });
      cpSync(copy, join(other, 'log'), { recursive: true });
      await isRefused(other, latest);
      const path = join(other, 'generation-1', 'documents', '00');
      const moved = readFileSync(path, 'utf8');
      const mended = await opened(other).repair(async () => 1);
      expect(mended.map(({ done }) => done).join()).toMatch(/(?:is|are) lost/);
      // What is gone from its place is kept beside the log, and named.
      if (readFileSync(path, 'utf8') !== moved) {
        const kept = join(other, 'log', 'documents-00.damaged');
        expect(mended).toContainEqual({
          place: { file: kept },
          done: expect.stringContaining('the log, which may be older, '),
        });
        expect(readFileSync(kept, 'utf8')).toBe(moved);
        keptOnce = true;
      }
    }
    expect(keptOnce).toBe(true);
  });

  it.each<[string, (directory: string) => void]>([
    ['its directory', (directory) => rmSync(join(directory, 'log'), { recursive: true })],
    ['all of its files', (directory) => rmSync(logFile(directory, 2))],
  ])('that is gone with %s leaves the documents, and the loss is named', async (_, remove) => {
    const history = await withHistory();
    const { directory } = history;
    remove(directory);
    await isRefused(directory, latestOf(history));
    await isRepaired(directory, history.after[0] ?? new Map());
  });

  it('shows what it has, where the documents are gone, and nothing else', async () => {
    const history = await withHistory();
    const { directory } = history;
    const documents = join(directory, 'generation-1', 'documents');
    for (const name of readdirSync(documents)) rmSync(join(documents, name));
    const latest = latestOf(history);
    expect(await found(directory, latest.keys())).toEqual(new Map([...latest, ['0a', undefined]]));
    const generation = join(directory, 'generation-1');
    renameSync(generation, `${generation}-aside`);
    await expect(opened(directory).state()).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${generation} is missing`,
    });
    renameSync(`${generation}-aside`, generation);
    expect(await found(directory, latest.keys())).toEqual(new Map([...latest, ['0a', undefined]]));
  });
});
