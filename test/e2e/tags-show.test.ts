import { afterAll, beforeAll, expect, it } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

let here: Place;
beforeAll(async () => {
  here = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY, COFFER_ORG: 'acme' });
  await here.ok('init');
  await here.ok('orgs create acme');
  await here.ok('tags create env:prod env:test');
});
afterAll(() => removePlace(here));

/** The line under the table. */
const told = async (tag: string): Promise<string | undefined> =>
  (await here.ok(`tags show ${tag} -o table`)).split('\n').find((line) => /^(?:On|Not used)/.test(line));

it('a tag is shown with the names of 40 workspaces, and with the number of those beyond', async () => {
  const names = Array.from({ length: 41 }, (_, i) => `w-${String(i).padStart(2, '0')}`);
  for (const name of names.slice(0, 40)) await here.ok(`workspaces create ${name} --tag env:prod`);
  expect(await told('env:test')).toBe(
    'Not used by any workspace. Keys may have it: see "coffer transit keys list --tag TAG".',
  );
  expect(await told('env:prod')).toBe(`On 40 workspaces: ${names.slice(0, 40).join(', ')}`);
  await here.ok(`workspaces create ${names[40]} --tag env:prod`);
  expect(await told('env:prod')).toBe(`On 41 workspaces: ${names.slice(0, 40).join(', ')} and 1 more`);
});
