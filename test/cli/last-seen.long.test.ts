import { expect, it } from 'vitest';
import { isSlow, ofDay } from '../long.ts';
import { seeded } from '../seeded.ts';
import { newSchema } from '../store/postgres/database.ts';
import { initWithKey } from '../store/postgres/document.ts';
import { whyNoDatabase } from '../store/postgres/installed.ts';
import { sharedDatabase } from '../store/postgres/run.ts';
import { newStoreDirectory, temporaryDirectory } from '../store/temporary-store.ts';
import { SeeingCommand } from './last-seen.ts';

const COMMANDS = isSlow ? 10_000 : ofDay(2_500);
/** The alarms that were false came from databases, where commands do not wait for each other's files. */
const COMMANDS_ON_FILES = isSlow ? 2_000 : ofDay(500);
const AT_ONCE = 32;
/** Between the look of a command and its comparison. */
const LONGEST_DELAY_MS = 50;

/** What so many commands warned of, of which each changes the store, and as many as that run at the same time. */
async function warningsOfMany(location: string, commands: number): Promise<readonly string[]> {
  const home = temporaryDirectory();
  const warnings: string[] = [];
  const chance = seeded();
  let begun = 0;
  const workers = Array.from({ length: AT_ONCE }, async () => {
    while (begun++ < commands) {
      warnings.push(...(await SeeingCommand.run(location, home, 1, chance.below(LONGEST_DELAY_MS))));
    }
  });
  await Promise.all(workers);
  return warnings;
}

it(
  `no alarm is raised by ${COMMANDS_ON_FILES} commands, many of them at the same time, on one store in files`,
  async () => {
    expect(await warningsOfMany(await newStoreDirectory(), COMMANDS_ON_FILES)).toEqual([]);
  },
  30 * 60_000,
);

it.skipIf(whyNoDatabase() !== undefined)(
  `no alarm is raised by ${COMMANDS} commands, many of them at the same time, on one store in PostgreSQL`,
  async () => {
    const location = (await sharedDatabase()).location(newSchema());
    await initWithKey(location);
    expect(await warningsOfMany(location, COMMANDS)).toEqual([]);
  },
  30 * 60_000,
);
