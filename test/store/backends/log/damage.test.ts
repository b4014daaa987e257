import { copyFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { storeIdOf } from '../../../../src/store/backends/files/header-format.ts';
import { Layout } from '../../../../src/store/backends/files/layout.ts';
import { checkpoint } from '../../../../src/store/backends/files/log/checkpoint.ts';
import { LogFile } from '../../../../src/store/backends/files/log/log-file.ts';
import { makeFile } from '../../../../src/store/backends/files/log/next-file.ts';
import { isLong } from '../../../long.ts';
import { seeded } from '../../../seeded.ts';
import { temporaryDirectory } from '../../temporary-store.ts';
import {
  commit,
  commitQuietly,
  document,
  logFile,
  logFiles,
  loggedStore,
  nameOf,
  opened,
  put,
  recordsIn,
  seenIn,
} from './logged-store.ts';

const FULL = 256;

import { estrange, flipped, found, type History, withHistory } from './damaging.ts';

/** Names that a record changes, by the texts of its changes. */
const changedIn = ({ after }: History, record: number): readonly string[] =>
  [...(after[record + 1] ?? [])]
    .filter(([name, text]) => after[record]?.get(name) !== text)
    .map(([name]) => name);

describe('one bit of a log with several records', () => {
  it('that is another lets no reader see an older content, nor a repair lose a whole change', async () => {
    const history = await withHistory();
    const { directory, after } = history;
    const latest = after.at(-1) ?? new Map<string, string>();
    const aside = join(temporaryDirectory(), 'aside');
    const path = logFile(directory, 2);
    const records = recordsIn(path);
    expect(records).toHaveLength(after.length - 1);
    const chance = seeded();
    const end = records.at(-1)?.end ?? 0;
    const all = [...Array(end).keys()].filter((at) => at < 100 || (at >= 512 && at < 524) || at >= 4096);
    const step = isLong ? 5 : 50;
    for (let i = chance.below(step); i < all.length; i += step) {
      const position = all[i] ?? 0;
      rmSync(aside, { recursive: true, force: true });
      cpSync(directory, aside, { recursive: true });
      flipped(logFile(aside, 2), position, chance.below(8));
      const record = records.findIndex(({ begin, end: after }) => position >= begin && position < after);
      const touched = record === -1 ? [] : changedIn(history, record);
      const refusals = { some: false };
      for (const [name, text] of await found(aside, latest.keys())) {
        if (!(text instanceof Error)) expect(text, `${name} at ${position}`).toBe(latest.get(name));
        else {
          refusals.some = true;
          expect(text.message, `${name} at ${position}`).toMatch(
            /log\/2 is damaged at offset \d+|log\/2, in a damaged change at offset \d+|log\/1 is missing|log\/2 is damaged/,
          );
        }
      }
      const flaws = await opened(aside).flaws();
      if (refusals.some) expect(flaws, `at ${position}`).not.toEqual([]);
      await opened(aside).repair(async () => 1);
      for (const [name, text] of await found(aside, latest.keys())) {
        if (text === latest.get(name)) continue;
        // Its last content was in the damaged record.
        expect(touched, `${name} at ${position}: ${text}`).toContain(name);
      }
      await commit(opened(aside), put('0f', 'goes on'));
      expect((await found(aside, ['0f'])).get('0f')).toBe('goes on');
      const rest = (await opened(aside).flaws()).map(({ reason }) => reason);
      expect(
        rest.every((reason) => reason === 'is a copy from before the repair of a damaged log'),
        rest.join(),
      ).toBe(true);
    }
  });

  it('makes only that document unreadable whose content it is in', async () => {
    const { directory, after } = await withHistory();
    const latest = after.at(-1) ?? new Map<string, string>();
    const path = logFile(directory, 2);
    const position = readFileSync(path).indexOf('aaaaaaaa');
    flipped(path, position, 0);
    const offset = recordsIn(path)[4]?.begin;
    const refusal = {
      kind: 'corrupt',
      message: `${join(directory, 'generation-1/documents/04')} is damaged: its latest content is in ${path}, in a damaged change at offset ${offset}`,
    };
    for (const [name, text] of await found(directory, latest.keys()))
      expect(text).toEqual(name === '04' ? expect.objectContaining(refusal) : latest.get(name));
    await expect(commit(opened(directory), put('aa', 'more'))).rejects.toMatchObject({ kind: 'corrupt' });
    expect(await opened(directory).flaws()).toMatchObject([
      {
        place: { file: path },
        reason: `is damaged at offset ${offset}: the content of documents/04 there cannot be read`,
      },
    ]);
    expect(await opened(directory).repair(async () => 1)).toContainEqual({
      place: { file: path },
      done: `was damaged at offset ${offset}: the content of documents/04 there is lost`,
      lossHint: expect.stringContaining('restore a backup'),
    });
    const { documents } = await seenIn(directory);
    const { '04': damaged, ...others } = documents;
    // Not an older content, and not none: whoever opens it finds that it is damaged.
    expect(damaged).toMatch(/^a*[^a]a*$/);
    for (const [name, text] of Object.entries(others)) expect(text).toBe(latest.get(name));
    expect(existsSync(`${path}.damaged`)).toBe(true);
  });

  it('in a content that is not the last is not moved into the documents, whose older content stays', async () => {
    const { directory, after } = await withHistory();
    const path = logFile(directory, 2);
    flipped(path, readFileSync(path).indexOf('one again'), 1);
    const file = join(directory, 'generation-1/documents/01');
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(await checkpoint(directory, { isIdle: true })).toBe('nothing');
    expect(logFiles(directory)).toEqual(['2']);
    expect(readFileSync(file, 'utf8')).toBe('old');
    const shown = await found(directory, ['01', '06']);
    expect(shown.get('01')).toMatchObject({ kind: 'corrupt', message: expect.stringContaining(path) });
    expect(shown.get('06')).toBe(after.at(-1)?.get('06'));
  });

  it('in a content that a later change replaced is named by the doctor, and keeps nobody from anything', async () => {
    const { directory, after } = await withHistory();
    const path = logFile(directory, 2);
    flipped(path, readFileSync(path).indexOf('two'), 0);
    await commit(opened(directory), put('0f', 'goes on'));
    const latest = new Map([...(after.at(-1) ?? []), ['0f', 'goes on']]);
    expect(await found(directory, latest.keys())).toEqual(latest);
    expect(await opened(directory).flaws()).toMatchObject([{ place: { file: join(directory, 'log') } }]);
    expect(await checkpoint(directory, { isIdle: true })).toBe('done');
    expect(await found(directory, latest.keys())).toEqual(latest);
    expect(await opened(directory).flaws()).toEqual([]);
  });

  it('in the list of a record leaves readable what later changes have', async () => {
    const { directory, after } = await withHistory();
    const path = logFile(directory, 2);
    const { begin = 0 } = recordsIn(path)[3] ?? {};
    flipped(path, begin + 40, 3);
    const shown = await found(directory, ['01', '04', '05', '06', '03', '02', '0a']);
    for (const name of ['01', '03', '04', '05', '06']) expect(shown.get(name)).toBe(after.at(-1)?.get(name));
    for (const name of ['02', '0a'])
      expect(shown.get(name)).toMatchObject({
        kind: 'corrupt',
        message: `${join(directory, 'generation-1/documents', name)} may be out of date: ${path} is damaged at offset ${begin}, and newer content may be lost`,
      });
  });

  it('shows nobody an older content, however many ask at once, and after a change was refused', async () => {
    const { directory, after } = await withHistory();
    const path = logFile(directory, 2);
    flipped(path, (recordsIn(path)[0]?.begin ?? 0) + 40, 3);
    const reader = opened(directory);
    const outcomes: unknown[] = [];
    const look = async (): Promise<void> => {
      await reader.state();
      for (const name of ['01', '02', '0a']) {
        const bytes = await reader.read(1, document(name)).catch((error: unknown) => error);
        outcomes.push(bytes instanceof Error ? 'refused' : [name, String(bytes)]);
      }
    };
    const looks = Array.from({ length: 5 }, async (_, i) => {
      for (let turn = 0; turn < i; turn++) await Promise.resolve();
      await look();
    });
    await Promise.all(looks);
    await expect(commit(reader, put('0a', 'new'))).rejects.toMatchObject({ kind: 'corrupt' });
    await look();
    const expected = ['01', '02'].map((name) => [name, after.at(-1)?.get(name)]);
    for (const outcome of outcomes) if (outcome !== 'refused') expect(expected).toContainEqual(outcome);
    expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(6);
  });

  it('is searched for once, and no more once the file is put back', async () => {
    const { directory, after } = await withHistory();
    const path = logFile(directory, 2);
    const records = recordsIn(path);
    const look = vi.spyOn(LogFile, 'read');
    onTestFinished(() => look.mockRestore());
    // Of the first damage a part is shown, of the second nothing.
    for (const [record, refused] of [
      [0, '0a'],
      [records.length - 1, undefined],
    ] as const) {
      const reader = opened(directory);
      const whole = flipped(path, (records[record]?.begin ?? 0) + 40, 3);
      const read = async (): Promise<unknown> => {
        await reader.state();
        return String(await reader.read(1, document(refused ?? '01')));
      };
      await expect(read()).rejects.toMatchObject({ kind: 'corrupt' });
      look.mockClear();
      await expect(read()).rejects.toMatchObject({ kind: 'corrupt' });
      await expect(commit(reader, put('0f', 'new'))).rejects.toMatchObject({ kind: 'corrupt' });
      expect(look).not.toHaveBeenCalled();
      writeFileSync(path, whole);
      expect(await read()).toBe(after.at(-1)?.get(refused ?? '01'));
      flipped(path, (records[record]?.begin ?? 0) + 40, 3);
      await expect(commit(opened(directory), put('0f', 'new'))).rejects.toMatchObject({ kind: 'corrupt' });
      // It has read the log while that was whole.
      expect(await read()).toBe(after.at(-1)?.get(refused ?? '01'));
      writeFileSync(path, whole);
    }
    await commit(opened(directory), put('0f', 'new'));
  });

  it('in a content is read anew by those who have read it, once the file is put back', async () => {
    const { directory, after } = await withHistory();
    const path = logFile(directory, 2);
    const whole = flipped(path, readFileSync(path).indexOf('one again'), 1);
    const reader = opened(directory);
    await reader.state();
    await expect(reader.read(1, document('01'))).rejects.toMatchObject({ kind: 'corrupt' });
    await expect(commit(reader, put('0f', 'new'))).rejects.toMatchObject({ kind: 'corrupt' });
    writeFileSync(path, whole);
    expect(String(await reader.read(1, document('01')))).toBe(after.at(-1)?.get('01'));
    await commit(reader, put('0f', 'new'));
    expect((await found(directory, ['0f'])).get('0f')).toBe('new');
  });

  it('keeps the content aside that a document had before', async () => {
    const { directory } = await withHistory();
    const path = logFile(directory, 2);
    await commit(opened(directory), put('0a', 'newer content'));
    flipped(path, readFileSync(path).indexOf('newer content'), 1);
    const mended = await opened(directory).repair(async () => 1);
    const kept = join(directory, 'log', 'documents-0a.damaged');
    expect(readFileSync(kept, 'utf8')).toBe('in its file');
    expect(mended.map(({ place }) => place)).toContainEqual({ file: kept });
    expect((await found(directory, ['0a'])).get('0a')).toBe('lewer content');
  });
});

describe('a damaged head of a file of the log', () => {
  it('lets nobody who has read it before show what the documents had before a long change', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'old'));
    backend.close();
    while ((await checkpoint(directory, { isIdle: true })) === 'done');
    const long = 'x'.repeat(1_100_000);
    await commit(opened(directory), put('aa', long), put('bb', 'new'));
    const reader = opened(directory);
    const { generation } = await reader.state();
    const whole = flipped(logFile(directory, 2), 50, 1);
    for (const name of ['aa', 'bb'])
      await expect(reader.read(generation, document(name))).rejects.toMatchObject({
        kind: 'corrupt',
        message: expect.stringContaining(logFile(directory, 2)),
      });
    writeFileSync(logFile(directory, 2), whole);
    expect(String(await reader.read(generation, document('aa')))).toBe(long);
  });
});

describe('a missing file of the log', () => {
  it('lets nobody list the documents who needs all of them, and the doctor those that are known', async () => {
    const { directory } = await loggedStore();
    await commitQuietly(directory, FULL + 9);
    rmSync(logFile(directory));
    const reader = opened(directory);
    const { generation } = await reader.state();
    expect(await reader.names(generation, 'documents', true)).toHaveLength(9);
    await expect(reader.names(generation, 'documents')).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${join(directory, 'generation-1/documents')} may be incomplete: ${logFile(directory)} is missing, and more documents may be lost`,
    });
    expect(await reader.names(generation, 'slots')).toEqual([]);
  });

  it('is noticed if it is the oldest, but not once the documents have what was in it', async () => {
    const { directory } = await loggedStore();
    await commitQuietly(directory, FULL + 1);
    const seen = await seenIn(directory);
    expect(await checkpoint(directory)).toBe('done');
    expect(logFiles(directory)).toEqual(['2']);
    expect(await seenIn(directory)).toEqual(seen);
    await commitQuietly(directory, FULL);
    rmSync(logFile(directory, 2));
    const reader = opened(directory);
    // The last change is in the next file; of all others a newer content may be lost.
    expect(String(await reader.read(1, document(nameOf(FULL - 1))))).toBe(`many ${FULL - 1}`);
    const missing = `${logFile(directory, 2)} is missing`;
    await expect(reader.read(1, document(nameOf(0)))).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(missing),
    });
    await expect(commit(opened(directory), put('aa', 'one'))).rejects.toMatchObject({ message: missing });
    expect(await opened(directory).flaws()).toMatchObject([
      { place: { file: logFile(directory, 2) }, reason: expect.stringContaining('is missing') },
    ]);
    const mended = await opened(directory).repair(async () => 1);
    expect(mended.map(({ done }) => done)).toContain('is missing: its changes are lost');
    expect((await seenIn(directory)).documents[nameOf(FULL - 1)]).toBe(`many ${FULL - 1}`);
  });

  it('is noticed if it is in the middle, and neither a checkpoint nor a repair loses those around it', async () => {
    const { directory } = await loggedStore();
    await commitQuietly(directory, FULL + 1);
    const storeId = storeIdOf(readFileSync(join(directory, 'coffer.json')));
    await makeFile(new Layout(directory), 3, { isFirst: false, generation: 1, base: FULL + 1, storeId });
    await commit(opened(directory), put('aa', 'in the third'));
    rmSync(logFile(directory, 2));
    expect(await checkpoint(directory)).toBe('nothing');
    expect(logFiles(directory)).toEqual(['1', '3']);
    await opened(directory).repair(async () => 1);
    const { documents } = await seenIn(directory);
    expect(Object.keys(documents)).toHaveLength(FULL + 1);
    expect(documents).toMatchObject({ aa: 'in the third', [nameOf(0)]: 'many 0', [nameOf(255)]: 'many 255' });
  });
});

describe('files of a log that were exchanged', () => {
  /** A store with two files of the log, and another store of the same kind. */
  async function two(): Promise<{ directory: string; before: Record<string, string> }> {
    const { directory } = await loggedStore();
    await commitQuietly(directory, FULL + 2);
    return { directory, before: (await seenIn(directory)).documents };
  }

  it.each<[string, (directory: string) => void, (i: number) => boolean]>([
    [
      'whose newest was replaced by a copy of the oldest',
      (directory) => copyFileSync(logFile(directory, 1), logFile(directory, 2)),
      (i) => i < FULL,
    ],
    [
      'that changed places',
      (directory) => {
        renameSync(logFile(directory, 1), logFile(directory, 9));
        renameSync(logFile(directory, 2), logFile(directory, 1));
        renameSync(logFile(directory, 9), logFile(directory, 2));
      },
      () => true,
    ],
    [
      'whose oldest has a damaged head',
      (directory) => void flipped(logFile(directory, 1), 50, 2),
      () => true,
    ],
    [
      'whose newest has a damaged head',
      (directory) => void flipped(logFile(directory, 2), 20, 2),
      () => true,
    ],
    [
      'whose oldest is cut in half',
      (directory) => {
        const bytes = readFileSync(logFile(directory, 1));
        writeFileSync(logFile(directory, 1), bytes.subarray(0, recordsIn(logFile(directory, 1))[100]?.begin));
      },
      (i) => i < 100 || i >= FULL,
    ],
    ['whose newest is of another store', (directory) => estrange(logFile(directory, 2)), (i) => i < FULL],
  ])('%s are never shown as the store, and a repair keeps what is whole', async (_, change, isSaved) => {
    const { directory, before } = await two();
    change(directory);
    for (const [name, text] of await found(directory, Object.keys(before)))
      if (!(text instanceof Error)) expect(text).toBe(before[name]);
    await opened(directory).repair(async () => 1);
    const { documents } = await seenIn(directory);
    for (let i = 0; i < FULL + 2; i++) if (isSaved(i)) expect(documents[nameOf(i)], `${i}`).toBe(`many ${i}`);
  });

  it('by older ones of the same files keep whoever has written to the newer ones from writing behind a gap', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    const older = readFileSync(logFile(directory));
    await commit(backend, put('aa', 'two'));
    writeFileSync(logFile(directory), older);
    await expect(commit(backend, put('aa', 'three'))).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining('it ends at revision 1, but the store was at revision 2'),
    });
    expect(readFileSync(logFile(directory))).toEqual(older);
  });
});
