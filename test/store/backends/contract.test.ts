import { copyFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Located } from '../../../src/store/backends/backend-kind.ts';
import { Bench } from '../../contracts/backend/bench.ts';
import type { BackendSubject } from '../../contracts/backend/subject.ts';
import { backendCases, describeBackend } from '../../contracts/store-backend.ts';
import { temporaryDirectory } from '../temporary-store.ts';
import { BROKEN, sqlite } from './sqlite/sqlite.ts';
import { BREAKS, type Break, SqliteBackend } from './sqlite/sqlite-backend.ts';
import { changesBelow, unsyncedNamesOf } from './synced.ts';

const subject = (broken?: Break): BackendSubject => ({
  kind: sqlite,
  location: () => ({ text: join(temporaryDirectory(), 'store.sqlite'), defaults: { [BROKEN]: broken } }),
  exported: { module: new URL('sqlite/sqlite.ts', import.meta.url).href, name: 'sqlite' },
  places: 'told apart',
  waits: 'bounded',
  async copy({ text }: Located) {
    const past = `${text}.past`;
    copyFileSync(text, past);
    return async () => copyFileSync(past, text);
  },
  // SQLite is asked whether it syncs each commit of the connection that commits. That it does when it says so is its own tests' to show.
  async reachesDisk(backend, commit) {
    await commit();
    return backend instanceof SqliteBackend && backend.syncs;
  },
  // SQLite writes without node:fs, which gives the file its name: that one has to be synced after its last.
  async creationReachesDisk({ text }, create) {
    const calls = await changesBelow(dirname(text), create);
    return calls.some(({ to }) => to === text) && unsyncedNamesOf(calls).length === 0;
  },
  files: ({ text }) => [text, `${text}.lock`].filter(existsSync),
  patienceMs: broken === undefined ? 20_000 : 300,
});

describeBackend('the least that keeps the contract, in SQLite,', subject());

/** Which of the promises shows that a backend is broken, for each way. */
const NOTICED: Readonly<Record<Break, string>> = {
  'no transaction': 'holds all of a commit or nothing when its process dies over the last change',
  'no sync': 'brings a commit to the disk before it is acknowledged',
  'no sync of the name':
    'brings a new store to the disk, with the name it is found by, before that is acknowledged',
  'no lock between processes':
    'keeps others out while a process has the right to write, until it is killed, and lets them read',
  'no witness': 'refuses a store that went back, to readers and writers, until its owner takes it up',
  'no raise': 'goes on from a higher revision, with nothing else changed or with changes of the same commit',
  'no end of waiting': 'gives up in time where a session of the same process does not end',
  'open files': 'keeps its files from everybody else, whatever the process would let them do',
  'no look for a store that is there': 'makes no store where there is one, and leaves that one as it is',
};

describe('the contract of store backends', () => {
  it.each(BREAKS)('refuses a backend that has %s', async (broken) => {
    const promise = backendCases.find(({ title }) => title === NOTICED[broken]);
    expect(promise).toBeDefined();
    if (promise === undefined) return;
    const outcome = await Bench.run(subject(broken), promise).catch((error: unknown) => error);
    expect(outcome).toMatchObject({ name: 'AssertionError' });
  });
});
