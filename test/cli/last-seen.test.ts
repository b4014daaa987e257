import { cpSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { LastSeen } from '../../src/cli/last-seen.ts';
import { type Database, newSchema } from '../store/postgres/database.ts';
import { initWithKey } from '../store/postgres/document.ts';
import { whyNoDatabase } from '../store/postgres/installed.ts';
import { sharedDatabase } from '../store/postgres/run.ts';
import { newStoreDirectory, temporaryDirectory } from '../store/temporary-store.ts';
import { SeeingCommand } from './last-seen.ts';

/** Commands that change the store after the look of another, and end before that one compares. */
async function warningsBehindOthers(location: string): Promise<readonly string[]> {
  const home = temporaryDirectory();
  expect(await SeeingCommand.run(location, home)).toEqual([]);
  const slow = await SeeingCommand.on(location, home);
  for (let i = 0; i < 3; i++) expect(await SeeingCommand.run(location, home)).toEqual([]);
  await slow.compare();
  slow.end();
  // What was seen is not forgotten over it.
  expect(await SeeingCommand.run(location, home)).toEqual([]);
  return slow.warnings;
}

const wentBack = (from: string, to: string): string =>
  `the store was rolled back from generation 1, revision ${from} to generation 1, revision ${to} ` +
  '(if you restored a backup on purpose, run "coffer store accept"; if not, the store was replaced with an older copy: restore the newer one)';

describe('a command that compares a store in files with what was seen of it', () => {
  it('is not alarmed by what others changed and saw after its look', async () => {
    expect(await warningsBehindOthers(await newStoreDirectory())).toEqual([]);
  });

  it('tells of a store that went back before it looked, and refuses one that did after its look', async () => {
    const location = await newStoreDirectory();
    const home = temporaryDirectory();
    const past = `${temporaryDirectory()}/past`;
    await SeeingCommand.run(location, home);
    cpSync(location, past, { recursive: true });
    const early = await SeeingCommand.on(location, home);
    await SeeingCommand.run(location, home, 3);
    rmSync(location, { recursive: true });
    cpSync(past, location, { recursive: true });
    await expect(early.compare()).rejects.toThrow(/rolled back/);
    early.end();
    const late = await SeeingCommand.on(location, home);
    await late.compare();
    late.end();
    expect(late.warnings).toEqual([wentBack('4', '1')]);
  });
});

describe('the memory of the states of stores', () => {
  const seenAt = (home: string): string => join(home, 'state', 'coffer', 'seen');
  /** Notes a new store beside so many others. */
  const noteBeside = (others: number): readonly string[] => {
    const home = temporaryDirectory();
    mkdirSync(seenAt(home), { recursive: true });
    for (let at = 0; at < others; at++) {
      mkdirSync(join(seenAt(home), `${at}`));
      utimesSync(join(seenAt(home), `${at}`), at, at);
    }
    const place = { file: join(home, 'store') };
    const last = LastSeen.of({ XDG_STATE_HOME: join(home, 'state') }, 'id', place);
    last?.note({ generation: 1, revision: 1, history: '' });
    expect(last?.version).toMatchObject({ generation: 1, revision: 1 });
    return readdirSync(seenAt(home));
  };

  it('keeps up to 500 stores, and of more the 250 that were used last', () => {
    expect(noteBeside(499)).toHaveLength(500);
    const kept = noteBeside(500);
    expect(kept).toHaveLength(250);
    expect(kept).toEqual(expect.arrayContaining(['251', '499']));
    expect(kept).not.toContain('250');
  });
});

const missing = whyNoDatabase();

describe.skipIf(missing !== undefined)(
  `a command that compares a store in PostgreSQL with what was seen of it${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let database: Database;
    beforeAll(async () => {
      database = await sharedDatabase();
    });

    it('is not alarmed by what others changed and saw after its look', async () => {
      const location = database.location(newSchema());
      await initWithKey(location);
      expect(await warningsBehindOthers(location)).toEqual([]);
    });

    it('tells of a store that went back before it looked', async () => {
      const schema = newSchema();
      const location = database.location(schema);
      await initWithKey(location);
      const home = temporaryDirectory();
      await SeeingCommand.run(location, home, 3);
      await database.query(`UPDATE ${schema}.store SET revision = 1, commit = gen_random_uuid()`);
      expect(await SeeingCommand.run(location, home, 0)).toEqual([wentBack('3', '1')]);
    });
  },
);
