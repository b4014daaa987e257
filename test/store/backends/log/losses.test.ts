import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { printPlace, printText } from '../../../../src/ground/errors.ts';
import { temporaryDirectory } from '../../temporary-store.ts';
import { estrange, flipped } from './damaging.ts';
import {
  commit,
  commitQuietly,
  logFile,
  loggedStore,
  opened,
  put,
  recordsIn,
  seenIn,
} from './logged-store.ts';

/** What is said of each file of the log before a repair and by it, apart from the copies that are kept. */
async function said(
  directory: string,
): Promise<{ readonly flaws: readonly string[]; readonly done: readonly string[] }> {
  const backend = opened(directory);
  const line = (file: string, text: string): string => `${file.replace(`${directory}/`, '')} ${text}`;
  const flaws = (await backend.flaws()).map(({ place, reason }) =>
    line(printPlace(place), printText(reason)),
  );
  const mended = await backend.repair(async () => 1);
  const done = mended.map((mend) => line(printPlace(mend.place), mend.done));
  return { flaws, done: done.filter((text) => !text.includes('.damaged ')) };
}

const REPLACED = 'log was damaged or missing, and was replaced: everything that could still be read is kept';

describe('what is lost of a log is said', () => {
  it('as lost and not as repaired, until the repair has begun another log', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'aa'));
    backend.close();
    rmSync(logFile(directory));
    const flaw = (await opened(directory).flaws()).find(({ reason }) =>
      printText(reason).includes('is missing'),
    );
    expect(flaw && printText(flaw.hint)).toMatch(
      /^put the file back; if you cannot, run "coffer doctor --repair"/,
    );
    const mended = await opened(directory).repair(async () => 1);
    expect(mended.map(({ done, lossHint }) => [done, lossHint])).toEqual([
      [expect.stringContaining('everything that could still be read is kept'), undefined],
      [
        'is missing: its changes are lost',
        expect.stringMatching(/^make these changes again, or restore a backup /),
      ],
    ]);
  });

  it('of a change that cannot be read, with its place and the one before it', async () => {
    const { directory, backend } = await loggedStore();
    for (const name of ['aa', 'bb', 'cc']) await commit(backend, put(name, name));
    backend.close();
    const { begin = 0 } = recordsIn(logFile(directory))[1] ?? {};
    flipped(logFile(directory), begin + 5, 0);
    expect(await said(directory)).toEqual({
      flaws: [`log/1 is damaged at offset ${begin}: changes there cannot be read`],
      done: [
        REPLACED,
        `log/1 was damaged at offset ${begin}: changes after revision 1 are lost, except for the parts that could be read`,
      ],
    });
    expect((await seenIn(directory)).documents).toEqual({ aa: 'aa', cc: 'cc' });
  });

  it('of a content that cannot be read, with its name', async () => {
    const { directory, backend } = await loggedStore();
    for (const name of ['aa', 'bb', 'cc']) await commit(backend, put(name, name));
    backend.close();
    const { begin = 0, end = 0 } = recordsIn(logFile(directory))[1] ?? {};
    flipped(logFile(directory), end - 1, 0);
    expect(await said(directory)).toEqual({
      flaws: [`log/1 is damaged at offset ${begin}: the content of documents/bb there cannot be read`],
      done: [REPLACED, `log/1 was damaged at offset ${begin}: the content of documents/bb there is lost`],
    });
  });

  it('of a whole file that is gone, or is that of another store', async () => {
    const { directory, backend } = await loggedStore();
    backend.close();
    await commitQuietly(directory, 300);
    const other = join(temporaryDirectory(), 'store');
    cpSync(directory, other, { recursive: true });
    estrange(logFile(directory, 1));
    const { flaws, done } = await said(directory);
    expect(flaws).toEqual(['log/1 is damaged, or belongs to another store']);
    expect(done).toEqual([
      REPLACED,
      'log/1 is damaged, or belongs to another store: its changes are not used',
    ]);
    rmSync(logFile(other, 1));
    expect(await said(other)).toEqual({
      flaws: ['log/1 is missing: its changes are lost unless you put the file back'],
      done: [REPLACED, 'log/1 is missing: its changes are lost'],
    });
  });
});
