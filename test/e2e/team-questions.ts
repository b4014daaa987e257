import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { fact, type Person } from './team-people.ts';

/* What tests of attacks ask of somebody's clone. */

/** Names of who is in. */
export const membersOf = async ({ place }: Person): Promise<readonly string[]> =>
  ((await place.json('team list -q')) as { members: { name: string }[] }).members
    .map(({ name }) => name)
    .sort();
export const read = ({ place }: Person, name = 'app.env'): string => readFileSync(place.file(name), 'utf8');
export const value = ({ place }: Person): Promise<string> => place.ok('secrets get -q app.env DB');
export const writes = ({ place }: Person, text: string): Promise<string> =>
  place.ok(['secrets', 'set', '-q', 'app.env', 'DB', text]);
/** Path of a fact in git. */
export const pathOf = (person: Person, start: string): string =>
  fact(person, start).slice(person.place.directory.length + 1);
/** An id that no fact has. */
export const NEVER = '0123456789abcdefghjkmnpqrstvwxyz';

/** Nothing of what Bob did changes anything for who knows that he was removed: Alice and Carol. */
export async function changesNothing(person: Person, isRotating = true): Promise<void> {
  expect(await membersOf(person)).toEqual(['alice', 'carol']);
  expect(await value(person)).toBe('s3cret');
  await writes(person, 'newer');
  expect(read(person)).toMatch(/^DB=coffer:app:v2:/);
  await writes(person, 's3cret');
  if (isRotating) await person.place.ok('team key rotate -q app');
}
