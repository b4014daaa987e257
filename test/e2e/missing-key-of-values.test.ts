import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Place, removePlace } from './harness.ts';
import { filledPlace } from './typed.ts';

let here: Place;
beforeAll(async () => {
  ({ here } = await filledPlace(['transit keys create other', 'transit keys create othre']));
});
afterAll(() => removePlace(here));

it('a missing key of other values in a file brings up one with a similar name, or another store, and no rule', async () => {
  writeFileSync(here.file('x.env'), 'A=1\n');
  await here.ok('secrets encrypt --key othre x.env');
  await here.ok('transit keys config othre --deletion-allowed --yes');
  await here.ok('transit keys delete othre --yes');
  expect(await here.refused('secrets set x.env B', 3, { input: '2' })).toBe(
    'coffer: no key "othre" in mount "transit" (did you mean "other"? otherwise check that this is the right store)',
  );
});
