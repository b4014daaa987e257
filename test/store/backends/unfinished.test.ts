import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { printJournal } from '../../../src/store/backends/files/journal.ts';
import { Layout } from '../../../src/store/backends/files/layout.ts';
import { StateDirectory, settled, unsettled } from '../../../src/store/backends/files/state-directory.ts';
import { followCommit } from '../../../src/store/backends/files/unfinished.ts';
import { refused } from '../../refusal.ts';

const FIRST = { generation: 1, revision: 5 };
const SECOND = { generation: 1, revision: 6 };

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-unfinished-'));
  mkdirSync(join(directory, 'state', 'commit'), { recursive: true });
  const entry = { ref: { area: 'documents', name: 'a'.repeat(64) }, sha256: undefined } as const;
  writeFileSync(
    join(directory, 'state', 'commit', 'journal'),
    printJournal({ from: SECOND, entries: [entry] }),
  );
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Follows what looks, one after the other, find. */
function follow(present: string, ...found: readonly ReturnType<typeof settled>[]) {
  writeFileSync(join(directory, 'state', present), '');
  const looks = [...found];
  const look = async () => looks.shift() ?? settled(SECOND);
  const store = { layout: new Layout(directory), state: new StateDirectory(directory) };
  return followCommit(new FilesBackend(directory), store, look);
}

describe('following a commit', () => {
  it('looks again where a later one was decided between looking and reading the journal', async () => {
    const last = settled({ generation: 1, revision: 7 });
    expect((await follow('dirty-1-6', unsettled(FIRST), last)).state).toEqual(last);
  });

  it('gives up where one commit after the other is decided, after a thousand looks', async () => {
    let looks = 0;
    const look = async () => {
      looks++;
      return unsettled({ generation: 1, revision: looks });
    };
    const store = { layout: new Layout(directory), state: new StateDirectory(directory) };
    expect(await refused(followCommit(new FilesBackend(directory), store, look))).toEqual({
      kind: 'unavailable',
      message: `cannot copy ${directory}: other processes keep writing to it`,
      field: undefined,
    });
    expect(looks).toBe(1000);
  });

  it('calls the store damaged where the journal is of another state than the one that is there', async () => {
    expect(await refused(follow('dirty-1-5', unsettled(FIRST)))).toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining('belongs to an older or newer state of the store'),
    });
  });
});
