import { readdirSync, renameSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { intoDocuments } from '../../store/temporary-store.ts';
import { DirectoryHere } from '../directory-here.ts';
import { promptsDouble } from '../streams.double.ts';

const DOCUMENTS = '.store/generation-1/documents';

/** A store that has lost the documents of the keys `one` and `two`. */
async function damaged(): Promise<{ readonly here: DirectoryHere; readonly lost: readonly string[] }> {
  const here = await DirectoryHere.withStore();
  for (const name of ['one', 'two']) await here.ok(`transit keys create ${name}`);
  await intoDocuments(here.file('.store'));
  const lost: string[] = [];
  for (const name of readdirSync(here.file(DOCUMENTS))) {
    const path = here.file(`${DOCUMENTS}/${name}`);
    renameSync(path, here.file('away'));
    if (/"id":"(?:one|two)"/.test((await here.run('doctor -o json')).out)) lost.push(name);
    renameSync(here.file('away'), path);
  }
  for (const name of lost) rmSync(here.file(`${DOCUMENTS}/${name}`));
  return { here, lost: lost.sort() };
}

const RESTORE = 'restore a backup to a new location with "coffer store restore FILE --store DIRECTORY"';

describe('doctor on a terminal', () => {
  it('prints each fix once, below the table, and to a pipe one for each file, for the store that was named', async () => {
    const { here, lost } = await damaged();
    const shown = async (): Promise<readonly string[]> => {
      const { exitCode, out } = await here.run('doctor --store .store', { terminals: ['out'], columns: 300 });
      expect(exitCode).toBe(1);
      return out.split(/(?<=┘\n)/);
    };
    const [table = '', fixes] = await shown();
    expect(table.match(/is missing/g)).toHaveLength(2);
    expect(table).not.toMatch(/Fix|coffer |-damaged/);
    const fix = `${RESTORE}, or drop what is lost with "coffer rekey --without-damaged --store .store"`;
    expect(fixes).toBe(`To fix: ${fix}.\n`);
    here.write(`${DOCUMENTS}/note.txt`, 'kept');
    expect((await shown())[1]?.trimEnd().split('\n').sort()).toEqual([
      `To fix ${lost.join(', ')}: ${fix}.`,
      'To fix note.txt: move it out of the store, or delete it if you know what it is.',
    ]);
    const { out } = await here.run('doctor --store .store');
    expect(out.match(/\t.*\t.*"coffer rekey --without-damaged --store .store"\n/g)).toHaveLength(2);
    const { findings } = JSON.parse((await here.run('doctor --store .store -o json')).out);
    expect(findings.filter(({ hint }: { hint?: string }) => hint === fix)).toHaveLength(2);
    rmSync(here.file(`${DOCUMENTS}/note.txt`));
    const { err } = await here.run('doctor --repair --store .store');
    expect(err).toContain('Nothing can be repaired.');
    await here.ok('rekey --without-damaged --store .store');
    expect(await here.ok('doctor --store .store')).toBe('');
  });
});

describe('rekey without what is damaged', () => {
  const QUESTION = 'Permanently delete the content of these 2 files?';

  it('asks before it drops anything, and changes nothing after a no', async () => {
    const { here, lost } = await damaged();
    const run = async (line: string, answers: readonly boolean[]) => {
      const prompts = promptsDouble(answers);
      const { exitCode, err } = await here.run(line, { prompts });
      return { exitCode, err, asked: prompts.asked };
    };
    const no = await run('rekey --without-damaged', [false]);
    expect(no).toMatchObject({ exitCode: 1, asked: [QUESTION] });
    for (const name of lost) expect(no.err).toContain(name);
    expect(no.err).toMatch(/No changes made\.\n$/);
    expect(readdirSync(here.file('.store')).filter((name) => name.startsWith('generation'))).toEqual([
      'generation-1',
    ]);
    expect((await here.run('rekey')).exitCode).toBe(1);
    expect((await here.run('doctor')).exitCode).toBe(1);
    expect(await run('rekey --without-damaged', [true])).toMatchObject({ exitCode: 0, asked: [QUESTION] });
    expect(await run('rekey --without-damaged', [])).toMatchObject({ exitCode: 0, asked: [] });
    await here.ok('doctor');
    expect(await here.ok('transit keys list')).toBe('app');
  });

  it('names a single file as one', async () => {
    const { here, lost } = await damaged();
    await here.ok('rekey --without-damaged --yes');
    expect(lost).toHaveLength(2);
    const [last = ''] = readdirSync(here.file('.store/generation-2/documents'));
    rmSync(here.file(`.store/generation-2/documents/${last}`));
    const prompts = promptsDouble([false]);
    const { exitCode } = await here.run('rekey --without-damaged', { prompts });
    expect([exitCode, prompts.asked]).toEqual([1, ['Permanently delete the content of this file?']]);
  });
});
