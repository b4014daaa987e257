import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Blob, BlobRef, Change } from '../../../src/store/backends/backend.ts';
import { createFiles } from '../../../src/store/backends/files/create-files.ts';
import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { printJournal } from '../../../src/store/backends/files/format-1/recovery.ts';
import { printChecked } from '../../../src/store/checked-json.ts';
import { becomeFormat1 } from '../format-1.ts';
import { temporaryDirectory } from '../temporary-store.ts';

async function* none(): AsyncGenerator<Blob> {}

const document = (name: string): BlobRef => ({ area: 'documents', name });
const put = (name: string, text: string): Change => ({ ref: document(name), bytes: Buffer.from(text) });

async function oldBackend(): Promise<{ directory: string; backend: FilesBackend }> {
  const directory = join(temporaryDirectory(), 'store');
  await createFiles(directory, {
    header: Buffer.from('header'),
    version: { generation: 1, revision: 0 },
    blobs: none(),
  });
  await becomeFormat1(directory);
  return { directory, backend: new FilesBackend(directory) };
}

describe('recovery of a store directory of format 1', () => {
  /** What a process leaves that is killed after its commit was decided. */
  function leaveDecidedCommit(directory: string, revision: number, staged: Record<string, string>): string {
    const commit = join(directory, 'state', 'commit');
    mkdirSync(commit, { mode: 0o700 });
    const changes = Object.entries(staged).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
    for (const { name, bytes } of changes)
      writeFileSync(join(commit, `documents-${name}`), bytes, { mode: 0o600 });
    const entries = changes.map(({ name, bytes }) => ({ ref: document(name), sha256: sha256(bytes) }));
    const journal = printJournal({ from: { generation: 1, revision }, entries });
    writeFileSync(join(commit, 'journal'), journal, { mode: 0o600 });
    return commit;
  }

  it('finishes a decided commit, also when part of it was applied already', async () => {
    const { directory, backend } = await oldBackend();
    const commit = leaveDecidedCommit(directory, 0, { aa: 'one', bb: 'two' });
    const documents = join(directory, 'generation-1', 'documents');
    writeFileSync(join(documents, 'aa'), readFileSync(join(commit, 'documents-aa')), { mode: 0o600 });
    rmSync(join(commit, 'documents-aa'));
    becomeDirty(directory, 0);
    expect(await backend.exclusive(async ({ version }) => version.revision)).toBe(1);
    expect(readFileSync(join(documents, 'aa'), 'utf8')).toBe('one');
    expect(readFileSync(join(documents, 'bb'), 'utf8')).toBe('two');
    expect(readdirSync(join(directory, 'state'))).toEqual(['clean-1-1']);
  });

  it.each([
    ['lost', undefined],
    ['in place with other content', 'other'],
  ])('does not finish a commit one of whose files is %s', async (_, content) => {
    const { directory, backend } = await oldBackend();
    const commit = leaveDecidedCommit(directory, 0, { aa: 'one', bb: 'two' });
    const documents = join(directory, 'generation-1', 'documents');
    rmSync(join(commit, 'documents-bb'));
    if (content !== undefined) writeFileSync(join(documents, 'bb'), content, { mode: 0o600 });
    becomeDirty(directory, 0);
    await expect(backend.exclusive(async () => undefined)).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${join(commit, 'documents-bb')} is missing`,
    });
    expect(readdirSync(join(directory, 'state'))).toContain('dirty-1-0');
  });

  it('never replays a commit beside a clean state', async () => {
    const { directory, backend } = await oldBackend();
    await backend.exclusive((session) => session.commit([put('aa', 'present')]));
    await becomeFormat1(directory);
    leaveDecidedCommit(directory, 0, { aa: 'stale' });
    await backend.exclusive((session) => session.commit([put('bb', 'two')]));
    expect(await backend.read(1, document('aa'))).toEqual(Buffer.from('present'));
    expect(readdirSync(join(directory, 'state'))).toEqual(['log-1-2']);
  });

  it('refuses a commit that belongs to another state', async () => {
    const { directory, backend } = await oldBackend();
    const path = join(leaveDecidedCommit(directory, 5, { aa: 'other' }), 'journal');
    becomeDirty(directory, 0);
    for (const from of [
      { generation: 1, revision: 5 },
      { generation: 2, revision: 0 },
    ]) {
      writeFileSync(path, printJournal({ from, entries: [{ ref: document('aa'), sha256: undefined }] }));
      await expect(backend.exclusive(async () => undefined)).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${path} belongs to an older or newer state of the store`,
      });
    }
  });

  it('names a journal whose entries are no objects', async () => {
    const { directory, backend } = await oldBackend();
    const path = join(leaveDecidedCommit(directory, 0, { aa: 'one' }), 'journal');
    becomeDirty(directory, 0);
    for (const entry of [null, 7, 'documents/aa', ['documents', 'aa']]) {
      writeFileSync(path, printChecked({ format: 1, generation: 1, revision: 0, changes: [entry] }));
      await expect(backend.exclusive(async () => undefined)).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${path} is damaged`,
      });
    }
  });

  it('names a damaged journal, at whichever byte it is damaged', async () => {
    const { directory, backend } = await oldBackend();
    const path = join(leaveDecidedCommit(directory, 0, { aa: 'one' }), 'journal');
    becomeDirty(directory, 0);
    const intact = readFileSync(path);
    for (let i = 0; i < intact.length; i++) {
      const flipped = Buffer.from(intact);
      flipped.writeUInt8(flipped.readUInt8(i) ^ 1, i);
      writeFileSync(path, flipped);
      await expect(backend.exclusive(async () => undefined)).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${path} is damaged`,
      });
    }
    writeFileSync(path, intact);
    expect(await backend.exclusive(async ({ version }) => version.revision)).toBe(1);
  });

  it('never writes outside the store, whatever a journal says', async () => {
    const { directory } = await oldBackend();
    const commit = join(directory, 'state', 'commit');
    for (const name of ['../../../coffer.json', '/etc/passwd', 'AA', '', 'aa/bb']) {
      mkdirSync(commit, { mode: 0o700, recursive: true });
      const journal = printJournal({
        from: { generation: 1, revision: 0 },
        entries: [{ ref: document(name), sha256: undefined }],
      });
      writeFileSync(join(commit, 'journal'), journal, { mode: 0o600 });
      becomeDirty(directory, 0);
      const backend = new FilesBackend(directory);
      await expect(backend.exclusive(async () => undefined)).rejects.toMatchObject({ kind: 'corrupt' });
      expect(readFileSync(join(directory, 'coffer.json'), 'utf8')).toBe('header');
    }
  });

  it('clears away what was prepared but not decided', async () => {
    const { directory, backend } = await oldBackend();
    mkdirSync(join(directory, 'state', 'commit.new'));
    writeFileSync(join(directory, 'state', 'commit.new', 'documents-aa'), 'half');
    writeFileSync(join(directory, 'state', 'blob.new'), 'half');
    mkdirSync(join(directory, 'generation-2', 'documents'), { recursive: true });
    becomeDirty(directory, 0);
    await backend.exclusive(async () => undefined);
    expect(readdirSync(join(directory, 'state'))).toEqual(['clean-1-1']);
    expect(readdirSync(directory)).not.toContain('generation-2');
    expect(await backend.names(1, 'documents')).toEqual([]);
  });
});

function becomeDirty(directory: string, revision: number): void {
  const state = join(directory, 'state');
  for (const name of readdirSync(state)) if (/^(clean|dirty)-/.test(name)) rmSync(join(state, name));
  writeFileSync(join(state, `dirty-1-${revision}`), '', { mode: 0o600 });
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
