import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Place, removePlace } from './harness.ts';
import { filledPlace } from './typed.ts';

/* What is said of names that do not exist and are like no other. */

let bare: Place;
let here: Place;
beforeAll(async () => {
  ({ bare, here } = await filledPlace(
    [
      'orgs create acme',
      'mounts add teams/payments',
      'auth enable approle',
      'auth approle write deploy',
      'auth enable userpass --path people',
    ],
    { COFFER_ORG: 'acme' },
  ));
});
afterAll(() => removePlace(bare));

describe('a role or user that a login method does not have', () => {
  it.each([
    ['auth approle role-id depoly', 3, 'no role depoly (did you mean "deploy"?)'],
    ['auth approle role-id ci', 3, 'no role ci (run "coffer auth approle list" to list them)'],
    [
      'auth approle secret-id ci',
      2,
      'NAME: role "ci" does not exist (run "coffer auth approle list" to list them)',
    ],
    [
      'auth userpass read bob --path people',
      3,
      'no user bob (run "coffer auth userpass list --path people" to list them)',
    ],
  ])('brings up the list of those that it has: %s', async (line, exitCode, said) => {
    expect(await here.refused(line, exitCode)).toBe(`coffer: ${said}`);
  });
});

describe('a name that no command line shows', () => {
  it.each([
    [
      { COFFER_ORG: 'acem' },
      'tags list',
      'organization "acem" not found (the name is from COFFER_ORG; did you mean "acme"?)',
    ],
    [
      { COFFER_ORG: 'nowhere' },
      'tags list',
      'organization "nowhere" not found (the name is from COFFER_ORG; run "coffer orgs list" to list them)',
    ],
    [
      { COFFER_MOUNT: 'team/payments' },
      'transit keys list',
      'no mount "team/payments" (the name is from COFFER_MOUNT; did you mean "teams/payments"?)',
    ],
  ])('is said to be that of the variable: %j', async (variables, line, said) => {
    expect(await here.with(variables).refused(line, 3)).toBe(`coffer: ${said}`);
  });
});

it('says of a file in the place of the name for a restored key how the file is read', async () => {
  writeFileSync(here.file('orders.backup'), 'x');
  expect(await here.refused('transit restore orders.backup', 2)).toBe(
    'coffer: orders.backup is a file, not a name (run "coffer transit restore --in orders.backup")',
  );
});

it('names a directory for a new store that does not have other files', async () => {
  mkdirSync(here.file('full'));
  writeFileSync(here.file('full/a.txt'), 'x');
  const refusal = await here.refused('--store full transit keys list', 3);
  expect(refusal).toContain('no store in full (the directory has other files: ');
  const [, command = ''] = /"coffer (init --store DIR)"/.exec(refusal) ?? [];
  await here.ok(command.replace('DIR', 'fresh'));
  expect(await here.ok('--store fresh transit keys list')).toBe('');
});
