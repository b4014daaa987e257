/** What is done to the log of a store in tests of faults, and what is seen of it. */
import * as fs from 'node:fs';
import { vi } from 'vitest';
import { patiently } from '../../../src/ground/directories.ts';
import { unavailable } from '../../../src/ground/errors.ts';
import type { Blob, BlobRef, Change } from '../../../src/store/backends/backend.ts';
import { createFiles } from '../../../src/store/backends/files/create-files.ts';
import { FileLock } from '../../../src/store/backends/files/file-lock.ts';
import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { Layout } from '../../../src/store/backends/files/layout.ts';
import { checkpoint } from '../../../src/store/backends/files/log/checkpoint.ts';
import { makeSpare } from '../../../src/store/backends/files/log/next-file.ts';
import { putBlobs } from '../../../src/store/backends/files/log/put-blobs.ts';
import { HEADER } from '../../store/backends/log/logged-store.ts';
import { Sandbox } from '../sandbox.ts';

export type Documents = Readonly<Record<string, string>>;

export interface Seen {
  readonly revision: number;
  readonly documents: Documents;
}

export const document = (name: string): BlobRef => ({ area: 'documents', name });
export const put = (name: string, text: string): Change => ({
  ref: document(name),
  bytes: Buffer.from(text),
});
export const remove = (name: string): Change => ({ ref: document(name), bytes: undefined });

/** One thing that is done to a store; it changes what is seen, or nothing. */
export type Act = (backend: FilesBackend, directory: string) => Promise<unknown>;

export const commit =
  (...changes: readonly Change[]): Act =>
  (backend) =>
    backend.exclusive((session) => session.commit(changes));
/** By a process of its own. */
export const commitFresh =
  (...changes: readonly Change[]): Act =>
  async (_, directory) => {
    const other = new FilesBackend(directory);
    await other.exclusive((session) => session.commit(changes));
    other.close();
  };
export const empty: Act = (_, directory) => checkpoint(directory, { isIdle: true });
export const emptyOldest: Act = (_, directory) => checkpoint(directory);
const spare: Act = (_, directory) => makeSpare(new Layout(directory));
/** A change while a checkpoint ends: `turns` of other work after the documents are there. Only the change may be refused. */
const commitBeside =
  (turns: number, ...changes: readonly Change[]): Act =>
  async (backend, directory) => {
    let change: Promise<unknown> | undefined;
    const emptied = checkpoint(directory, {
      put: async (job) => {
        const outcome = await putBlobs({ fs, patiently }, job);
        if (job.directories.length === 0) return outcome;
        change = commit(...changes)(backend, directory);
        change.catch(() => undefined);
        for (let turn = 0; turn < turns; turn++) await undefined;
        return outcome;
      },
    });
    await emptied.catch(() => undefined);
    await (change ?? commit(...changes)(backend, directory));
  };
export const rekey =
  (documents: Documents): Act =>
  (backend) =>
    backend.exclusive((session) =>
      session.replaceGeneration(
        (async function* (): AsyncGenerator<Blob> {
          for (const [name, text] of Object.entries(documents))
            yield { ref: document(name), bytes: Buffer.from(text) };
        })(),
      ),
    );
const raise =
  (revision: number): Act =>
  (backend) =>
    backend.exclusive((session) => session.raise(revision));

/** More than a file of the log has room for. */
export const LONG = 'x'.repeat(9000);

export const acts: Readonly<Record<string, readonly Act[]>> = {
  'changes and checkpoints': [
    commit(put('aa', '1')),
    commit(put('aa', '2'), put('bb', '1')),
    empty,
    commit(remove('bb'), put('cc', '1')),
    commitFresh(put('aa', '3')),
    empty,
    empty,
    commit(put('bb', '2'), remove('aa')),
    empty,
  ],
  'files that follow one another': [
    commit(put('aa', '1')),
    spare,
    commit(put('long', LONG), put('aa', '2')),
    commit(put('aa', '3')),
    emptyOldest,
    commitFresh(put('bb', '1'), remove('long')),
    empty,
    commit(put('aa', '4')),
  ],
  'a writer beside a checkpoint': [
    commit(put('long', LONG)),
    commit(put('aa', '1')),
    commitBeside(0, put('aa', '2')),
    commit(put('long', LONG), put('bb', '1')),
    commit(put('bb', '2')),
    commitBeside(100, put('bb', '3')),
  ],
  'a new root key': [
    commit(put('aa', '1')),
    empty,
    commit(put('bb', '1')),
    rekey({ cc: 'a', dd: 'b' }),
    commit(put('cc', 'c')),
    emptyOldest,
    raise(1000),
    empty,
    rekey({ ee: 'd' }),
    empty,
    commitFresh(put('ff', 'e')),
    empty,
  ],
};

/** What a process is shown; undefined if the store was changed meanwhile. */
export async function seenBy(backend: FilesBackend): Promise<Seen | undefined> {
  const { generation, revision } = await backend.state();
  const documents: Record<string, string> = {};
  for (const name of (await backend.names(generation, 'documents')).sort()) {
    const bytes = await backend.read(generation, document(name));
    documents[name] = bytes === undefined ? 'missing' : Buffer.from(bytes).toString();
  }
  return (await backend.state()).revision === revision ? { revision, documents } : undefined;
}

/** What is shown to a process that opens the store now. */
export async function seenIn(directory: string): Promise<Seen> {
  const backend = new FilesBackend(directory);
  try {
    for (;;) {
      const seen = await seenBy(backend);
      if (seen !== undefined) return seen;
    }
  } finally {
    backend.close();
  }
}

/** As `seenIn`, where nothing can be written. */
export async function seenReadOnly(directory: string): Promise<Seen> {
  const spy = vi.spyOn(FileLock.prototype, 'tryHold').mockRejectedValue(unavailable('read-only'));
  try {
    return await seenIn(directory);
  } finally {
    spy.mockRestore();
  }
}

/** Makes a store with one document. */
export const makeStore = (directory: string): Promise<void> =>
  createFiles(directory, {
    header: HEADER,
    version: { generation: 1, revision: 0 },
    blobs: (async function* (): AsyncGenerator<Blob> {
      yield { ref: document('00'), bytes: Buffer.from('first') };
    })(),
  });

export async function newBox(): Promise<Sandbox> {
  const box = Sandbox.make();
  await makeStore(box.store);
  return box;
}
