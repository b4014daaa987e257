import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { printPlace } from '../../../src/ground/errors.ts';
import type { Blob, BlobRef, Change } from '../../../src/store/backends/backend.ts';
import { createFiles } from '../../../src/store/backends/files/create-files.ts';
import { files } from '../../../src/store/backends/files/files.ts';
import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { describeBackend } from '../../contracts/store-backend.ts';
import { temporaryDirectory } from '../temporary-store.ts';
import { changesBelow, unsyncedNamesOf, unsyncedOf } from './synced.ts';

async function* none(): AsyncGenerator<Blob> {}

describeBackend('a directory of files', {
  kind: files,
  location: () => ({ text: join(temporaryDirectory(), 'store'), defaults: {} }),
  exported: {
    module: new URL('../../../src/store/backends/files/files.ts', import.meta.url).href,
    name: 'files',
  },
  places: 'told apart',
  waits: 'bounded',
  async copy({ text }) {
    const past = join(temporaryDirectory(), 'past');
    cpSync(text, past, { recursive: true });
    return async () => {
      rmSync(text, { recursive: true });
      cpSync(past, text, { recursive: true });
    };
  },
  // Every file that was written was synced before the answer. In which order all else gets to the disk is for test/faults/crash.
  async reachesDisk({ place }, commit) {
    const calls = await changesBelow(printPlace(place), commit);
    return calls.some(({ kind }) => kind === 'sync') && unsyncedOf(calls).length === 0;
  },
  async creationReachesDisk({ text }, create) {
    const calls = await changesBelow(dirname(text), create);
    expect(calls.filter(({ kind }) => kind === 'rename')).not.toEqual([]);
    return unsyncedOf(calls).length === 0 && unsyncedNamesOf(calls).length === 0;
  },
  files: ({ text }) => [
    text,
    ...readdirSync(text, { recursive: true, encoding: 'utf8' }).map((name) => join(text, name)),
  ],
  patienceMs: 20_000,
});

const document = (name: string): BlobRef => ({ area: 'documents', name });
const put = (name: string, text: string): Change => ({ ref: document(name), bytes: Buffer.from(text) });

async function newBackend(options = {}): Promise<{ directory: string; backend: FilesBackend }> {
  const directory = join(temporaryDirectory(), 'store');
  await createFiles(directory, {
    header: Buffer.from('header'),
    version: { generation: 1, revision: 0 },
    blobs: none(),
  });
  return { directory, backend: new FilesBackend(directory, options) };
}

describe('a store directory', () => {
  it('holds no other files than the format names, and the lock stays empty', async () => {
    const { directory, backend } = await newBackend();
    await backend.exclusive(async (session) => {
      await session.commit([put('aa', 'one'), put('bb', 'two')]);
      expect(readdirSync(directory).sort()).toEqual(['coffer.json', 'generation-1', 'lock', 'log', 'state']);
      expect(readdirSync(join(directory, 'state'))).toEqual(['log-1-1']);
      expect(readdirSync(join(directory, 'log'))).toEqual(['1']);
    });
    expect(statSync(join(directory, 'lock')).size).toBe(0);
    expect(statSync(join(directory, 'state', 'log-1-1')).size).toBe(0);
  });

  it('gives up waiting for a lock that another session holds, and says which', async () => {
    const { directory, backend } = await newBackend();
    const impatient = new FilesBackend(directory, { lockWaitMs: 150 });
    await backend.exclusive(async () => {
      await expect(impatient.exclusive(async () => 'in')).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(
          /^timed out after \d+s waiting for .*lock, held by this process since \d{4}-\d\d-\d\dT[\d:]+Z$/,
        ),
      });
    });
    expect(await impatient.exclusive(async () => 'in')).toBe('in');
  });

  it('gives up on a session that waits for itself', async () => {
    const { backend } = await newBackend({ lockWaitMs: 150 });
    await backend.exclusive(async () => {
      await expect(backend.exclusive(async () => 'in')).rejects.toMatchObject({ kind: 'unavailable' });
    });
    expect(await backend.exclusive(async () => 'in')).toBe('in');
  });

  it('names a lock file that something else has written to', async () => {
    const { directory, backend } = await newBackend();
    writeFileSync(join(directory, 'lock'), 'y'.repeat(5000));
    await expect(backend.exclusive(async () => 'in')).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${join(directory, 'lock')} is damaged: it must be empty`,
    });
  });

  it('makes a lock file that has gone missing again, private as before', async () => {
    const { directory, backend } = await newBackend();
    rmSync(join(directory, 'lock'));
    expect(await backend.exclusive(async () => 'in')).toBe('in');
    expect(statSync(join(directory, 'lock')).mode & 0o777).toBe(0o600);
  });

  it('puts back a state file that has gone missing, above any revision used before', async () => {
    const { directory, backend } = await newBackend();
    await backend.exclusive((session) => session.commit([put('aa', 'one')]));
    rmSync(join(directory, 'state', 'log-1-1'));
    await expect(backend.state()).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining('the state file is missing'),
    });
    await backend.exclusive(async () => undefined);
    expect((await backend.state()).revision).toBeGreaterThan(1);
    expect(await backend.read(1, document('aa'))).toEqual(Buffer.from('one'));
  });
});

describe('recovery of a store directory', () => {
  it.each<[string, (directory: string) => void]>([
    [
      'there is another generation',
      (directory) => mkdirSync(join(directory, 'generation-2'), { mode: 0o700 }),
    ],
    ['there is no generation', (directory) => rmSync(join(directory, 'generation-1'), { recursive: true })],
    ['a commit was begun', (directory) => mkdirSync(join(directory, 'state', 'commit'), { mode: 0o700 })],
  ])('guesses no lost state where %s', async (_, change) => {
    const { directory, backend } = await newBackend();
    rmSync(join(directory, 'state', 'log-1-0'));
    change(directory);
    const before = readdirSync(directory, { recursive: true }).sort();
    await expect(backend.exclusive(async () => undefined)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining('the state file is missing'),
    });
    expect(readdirSync(directory, { recursive: true }).sort()).toEqual(before);
  });
});

describe('making a store directory', () => {
  const content = { header: Buffer.from('header'), version: { generation: 1, revision: 0 } };

  it('refuses a directory that holds a store, or anything else', async () => {
    const { directory } = await newBackend();
    await expect(createFiles(directory, { ...content, blobs: none() })).rejects.toMatchObject({
      kind: 'exists',
      message: `a store already exists in ${directory}`,
    });
    const other = temporaryDirectory();
    writeFileSync(join(other, 'letter.txt'), 'mine');
    await expect(createFiles(other, { ...content, blobs: none() })).rejects.toMatchObject({
      kind: 'conflict',
      message: `${other} is not empty`,
    });
    expect(readdirSync(other)).toEqual(['letter.txt']);
  });

  it('begins again where a killed one left off', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'coffer.json.new'), 'half');
    writeFileSync(join(directory, 'lock'), '');
    mkdirSync(join(directory, 'generation-1', 'documents'), { recursive: true });
    mkdirSync(join(directory, 'state'));
    await createFiles(directory, { ...content, blobs: none() });
    expect(readdirSync(directory).sort()).toEqual(['coffer.json', 'generation-1', 'lock', 'log', 'state']);
  });

  it('leaves nothing when it fails', async () => {
    const directory = join(temporaryDirectory(), 'store');
    const failing = createFiles(directory, {
      ...content,
      blobs: (async function* () {
        yield { ref: document('aa'), bytes: Buffer.from('one') };
        throw new Error('on purpose');
      })(),
    });
    await expect(failing).rejects.toThrow('on purpose');
    expect(() => statSync(directory)).toThrow('ENOENT');
  });

  it('makes no store when a file reads otherwise than it was written, and goes on from there', async () => {
    const directory = join(temporaryDirectory(), 'store');
    const path = join(directory, 'generation-1', 'documents', 'aa');
    let spoils = true;
    async function* blobs(): AsyncGenerator<Blob> {
      yield { ref: document('aa'), bytes: Buffer.from('one') };
      yield { ref: document('bb'), bytes: Buffer.from('two') };
      if (!spoils) return;
      const isWritten = () => statSync(path, { throwIfNoEntry: false })?.size === 3;
      await vi.waitUntil(isWritten, { timeout: 20_000, interval: 1 });
      writeFileSync(path, 'onx');
    }
    const making = () => createFiles(directory, { ...content, blobs: blobs() }, { resume: true });
    await expect(making()).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${path} was not stored correctly: reading it back gave other data`,
    });
    expect(readdirSync(directory)).not.toContain('coffer.json');
    spoils = false;
    await making();
    expect(readFileSync(path, 'utf8')).toBe('one');
    expect(readdirSync(directory)).toContain('coffer.json');
  });

  it('makes one store when two begin at once', async () => {
    const directory = join(temporaryDirectory(), 'store');
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map(() => createFiles(directory, { ...content, blobs: none() })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(directory).sort()).toEqual(['coffer.json', 'generation-1', 'lock', 'log', 'state']);
  });
});
