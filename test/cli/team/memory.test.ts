import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stateDirectory } from '../../../src/cli/state-directory.ts';
import { TeamMemory } from '../../../src/cli/team/memory.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

const STORE = '0'.repeat(32);

/** A memory whose files of one ending can't be written: directories that are not empty are in their places. */
function memoryWithout(ending: string) {
  const home = temporaryDirectory();
  const environment = { HOME: home, XDG_STATE_HOME: join(home, 'state') };
  const keyrings = join(stateDirectory(environment) ?? '', 'team', 'keyrings');
  const inTheWay = join(keyrings, `${STORE}.${ending}`);
  mkdirSync(inTheWay, { recursive: true });
  writeFileSync(join(inTheWay, 'x'), '');
  return { memory: new TeamMemory(environment), keyrings };
}

it('what a machine remembers to be quicker is left out where it can not be written, and leaves nothing behind', () => {
  const { memory, keyrings } = memoryWithout('verified');
  memory.noteVerified(STORE, ['mark']);
  memory.noteCards(STORE, ['1'.repeat(32)]);
  expect([...memory.of(STORE).cards]).toEqual(['1'.repeat(32)]);
  expect(readdirSync(keyrings).sort()).toEqual([`${STORE}.list`, `${STORE}.verified`]);
});

it('what a machine knows of who left is never left out in silence', () => {
  const { memory } = memoryWithout('list');
  expect(() =>
    memory.noteSeen(STORE, [{ id: '1'.repeat(32), without: [{ id: STORE, name: 'bob' }] }]),
  ).toThrow();
});
