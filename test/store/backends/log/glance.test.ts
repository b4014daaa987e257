import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { DAMAGED, type Glance, glanceAt } from '../../../../src/store/backends/files/log/glance.ts';
import { Log } from '../../../../src/store/backends/files/log/log.ts';
import { OpenedFiles } from '../../../../src/store/backends/files/opened-files.ts';
import { temporaryDirectory } from '../../temporary-store.ts';
import {
  commit,
  commitQuietly,
  document,
  logFile,
  loggedStore,
  makeOlder,
  nameOf,
  nameState,
  opened,
  put,
  recordsIn,
  remove,
  seenIn,
} from './logged-store.ts';

/** Glances at the log of a store. */
function glance(directory: string): Glance | undefined {
  const { layout, state, storeId } = new OpenedFiles(directory);
  return glanceAt(layout, storeId, state.read());
}

/** A store with a log of a few records of different kinds. */
async function withRecords(): Promise<string> {
  const { directory, backend } = await loggedStore();
  await commit(backend, put('aa', 'old'), put('aa0', 'longer name'), put('ab', 'gone'));
  await commit(backend, { ref: { area: 'slots', name: 'aa' }, bytes: Buffer.from('slot') });
  await commit(backend, remove('ab'), put('0aaa', 'has the bytes of another name'), put('aa', 'new'));
  return directory;
}

const textOf = (found: ReturnType<Glance['find']>): string | undefined =>
  typeof found === 'object' ? String(found.bytes) : found;

describe('a glance at a log', () => {
  it('tells the last content of each blob, and what was deleted', async () => {
    const directory = await withRecords();
    const log = glance(directory);
    const find = (name: string, area: 'documents' | 'slots' = 'documents'): string | undefined =>
      textOf(log?.find(1, { area, name }));
    expect(['aa', 'aa0', 'ab', '0aaa'].map((name) => find(name))).toEqual([
      'new',
      'longer name',
      'undefined',
      'has the bytes of another name',
    ]);
    expect([find('aa', 'slots'), find('ab', 'slots'), find('a'), find('0aa'), find('zz')]).toEqual([
      'slot',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(log?.find(2, document('aa'))).toBeUndefined();
    const names = new Set(['ab', 'cc']);
    log?.apply(1, 'documents', names);
    expect([...names].sort()).toEqual(['0aaa', 'aa', 'aa0', 'cc']);
  });

  it('is enough for those who only read, and says what a whole look says, with two full files', async () => {
    const { directory } = await loggedStore();
    await commitQuietly(directory, 500);
    const follow = vi.spyOn(Log.prototype, 'follow');
    const seen = await seenIn(directory);
    expect(follow).not.toHaveBeenCalled();
    follow.mockRestore();
    expect(seen.revision).toBe(500);
    expect(Object.keys(seen.documents)).toHaveLength(500);
    for (let i = 0; i < 500; i += 7) expect(seen.documents[nameOf(i)]).toBe(`many ${i}`);
  });

  it('is enough for a long change, but not for one that is not kept in memory', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'x'.repeat(900_000)));
    expect(textOf(glance(directory)?.find(1, document('aa')))).toHaveLength(900_000);
    await commit(backend, put('bb', 'x'.repeat(2_000_000)));
    expect(glance(directory)).toBeUndefined();
    expect((await seenIn(directory)).documents['bb']).toHaveLength(2_000_000);
  });

  it('is not enough where anything is above the state, or missing', async () => {
    const directory = await withRecords();
    nameState(directory, 'log-1-2');
    expect(glance(directory)).toBeUndefined();
    nameState(directory, 'log-1-4');
    expect(glance(directory)).toBeUndefined();
    nameState(directory, 'log-2-3');
    expect(glance(directory)).toBeUndefined();
    nameState(directory, 'log-1-3');
    expect(glance(directory)).toBeDefined();
    const other = join(temporaryDirectory(), 'other');
    cpSync(directory, other, { recursive: true });
    cpSync(logFile(other), logFile(other, 2));
    expect(glance(other)).toBeUndefined();
  });

  it('is enough after the machine was started again, unless anything is behind the end', async () => {
    const directory = await withRecords();
    const path = logFile(directory);
    makeOlder(path);
    expect(glance(directory)).toBeDefined();
    const bytes = readFileSync(path);
    bytes.writeUInt8(1, bytes.length - 1);
    writeFileSync(path, bytes);
    expect(glance(directory)).toBeUndefined();
    expect((await seenIn(directory)).documents['aa']).toBe('new');
  });

  it('is not enough for a log of which any bit of a list is another one, and finds a damaged content', async () => {
    const directory = await withRecords();
    const path = logFile(directory);
    const whole = readFileSync(path);
    const records = recordsIn(path);
    const before = JSON.stringify(await seenIn(directory));
    const end = records.at(-1)?.end ?? 0;
    for (let at = 0; at < end + 8; at++) {
      if (at === 68) at = 4096;
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at);
      writeFileSync(path, bytes);
      const log = glance(directory);
      if (log === undefined) continue;
      const found = ['aa', 'aa0', 'ab', '0aaa'].map((name) => log.find(1, document(name)));
      const slot = log.find(1, { area: 'slots', name: 'aa' });
      // Of an older content, of the bytes between records, or of those that say nothing.
      const isDamaged = [...found, slot].includes(DAMAGED);
      if (isDamaged) continue;
      expect([found.map(textOf), textOf(slot)], `at ${at}`).toEqual([
        ['new', 'longer name', 'undefined', 'has the bytes of another name'],
        'slot',
      ]);
    }
    writeFileSync(path, whole);
    expect(JSON.stringify(await seenIn(directory))).toBe(before);
  });

  it('leaves it to a whole look to say which content is damaged, and where', async () => {
    const directory = await withRecords();
    const path = logFile(directory);
    const bytes = readFileSync(path);
    const at = bytes.lastIndexOf('new');
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(path, bytes);
    const reader = opened(directory);
    await reader.state();
    await expect(reader.read(1, document('aa'))).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(`offset ${recordsIn(path).at(-1)?.begin}`),
    });
    expect(String(await reader.read(1, document('aa0')))).toBe('longer name');
  });
});
