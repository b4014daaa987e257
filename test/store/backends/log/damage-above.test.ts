import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { flipped, found } from './damaging.ts';
import {
  commit,
  logFile,
  loggedStore,
  makeOlder,
  nameState,
  opened,
  put,
  recordsIn,
  seenIn,
} from './logged-store.ts';

const CHANGES = 10;
const DOCUMENTS = 7;

const nameIn = (change: number): string => `1${change % DOCUMENTS}`;

/** Documents after so many changes. */
const documentsAfter = (changes: number): Map<string, string> =>
  new Map([...Array(changes).keys()].map((change) => [nameIn(change), `text ${change}`]));

/** A store of which the last names of the state are lost, or one that was not given before its writer was killed. */
async function withLostNames(lost: number, isOlder: boolean): Promise<string> {
  const { directory, backend } = await loggedStore();
  for (let change = 0; change < CHANGES; change++)
    await commit(backend, put(nameIn(change), `text ${change}`));
  backend.close();
  if (isOlder) makeOlder(logFile(directory), CHANGES);
  nameState(directory, `log-1-${CHANGES - lost}`);
  return directory;
}

const cases = ['list', 'content'].flatMap((part) =>
  [4, 7].flatMap((record) =>
    [1, 4].flatMap((lost) => [true, false].map((isOlder) => ({ part, record, lost, isOlder }))),
  ),
);

describe('a log that goes on above the name of the state', () => {
  it.each(cases)(
    'is not written to, and shows nothing older than was acknowledged, if the $part of record $record is damaged, $lost names are lost, and being of another boot is $isOlder',
    async ({ part, record, lost, isOlder }) => {
      const directory = await withLostNames(lost, isOlder);
      const path = logFile(directory);
      const { begin = 0, end = 0 } = recordsIn(path)[record] ?? {};
      flipped(path, part === 'list' ? begin + 20 : end - 1, 2);
      const { mtimeNs } = statSync(path, { bigint: true });
      // What is above the name was acknowledged only if the machine was started anew since.
      const shown = isOlder ? CHANGES : CHANGES - lost;
      const expected = documentsAfter(shown);
      const reader = opened(directory);
      for (let look = 0; look < 2; look++)
        expect(await reader.state()).toEqual({ generation: 1, revision: shown });
      for (const [name, text] of await found(directory, expected.keys()))
        if (text instanceof Error) expect(text).toMatchObject({ kind: 'corrupt' });
        else expect(text, name).toBe(expected.get(name));
      const damaged = `${path} is damaged at offset ${begin}`;
      await expect(commit(opened(directory), put('0f', 'new'))).rejects.toMatchObject({
        kind: 'corrupt',
        message: expect.stringContaining(damaged),
      });
      expect(statSync(path, { bigint: true }).mtimeNs).toBe(mtimeNs);
      expect(await opened(directory).flaws()).not.toEqual([]);
      await opened(directory).repair(async () => 1);
      const { documents } = await seenIn(directory);
      for (const [name, text] of documentsAfter(CHANGES))
        if (name !== nameIn(record) || text !== `text ${record}`) expect(documents[name], name).toBe(text);
      await commit(opened(directory), put('0f', 'new'));
    },
  );

  it('ends before what was torn by a power failure, which is written over', async () => {
    const directory = await withLostNames(1, true);
    const path = logFile(directory);
    const { begin = 0, end = 0 } = recordsIn(path).at(-1) ?? {};
    for (const position of [begin + 3, begin + 20, end - 1]) {
      flipped(path, position, 2);
      expect(await opened(directory).state()).toEqual({ generation: 1, revision: CHANGES - 1 });
    }
    await commit(opened(directory), put('0f', 'new'));
    expect((await found(directory, ['0f'])).get('0f')).toBe('new');
  });
});
