import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseSshPrivateKey } from '../../src/signatures/ssh-private-key.ts';
import { pathOf, printFact } from '../../src/team/fact.ts';
import { signed } from '../../src/team/signing.ts';
import { Forger } from './team-forging.ts';
import { type Person, pull, team } from './team-people.ts';
import { membersOf, value, writes } from './team-questions.ts';

/* Attacks with thousands of facts. */

/** Puts facts into somebody's clone that are all signed by another one, and differ in one text. */
function putMany(at: Person, by: Person, count: number, message: (index: number) => string): void {
  const key = parseSshPrivateKey(readFileSync(join(by.home, '.ssh', 'id_ed25519'), 'utf8'));
  if (key === undefined) throw new Error(`${by.name} has no key`);
  for (let index = 0; index < count; index++) {
    const text = message(index);
    writeFileSync(at.place.file(`.coffer/${pathOf(text)}`), printFact(text, signed(text, key)));
  }
}

it('an admin keeps nobody from removing them by more facts at once than one can follow', async () => {
  const { alice, others } = await team('bob');
  const [bob] = others as [Person];
  pull(bob);
  const forger = new Forger(bob);
  const version = forger.message('version', forger.version('k', 1, await forger.root('members/bob.')));
  putMany(alice, bob, 10_500, (index) => version.replace(/^key k$/m, `key k${index}`));
  const full = await alice.place.refused(['team', 'key', 'add', 'mail'], 1);
  expect(full).toContain('concurrent changes, most of them by bob');
  await alice.place.ok('team remove -q bob --yes');
  expect(await membersOf(alice)).toEqual(['alice']);
  await alice.place.ok('team key add -q mail');
});

it('an admin who left stops no removal by thousands of their own with root keys for those who stay, and few lines tell of these', async () => {
  const { alice, others } = await team('bob', 'carol');
  const [bob] = others as [Person, Person];
  pull(bob);
  const forger = new Forger(bob);
  const [fields, armor] = await forger.removal([forger.card('carol')], [forger.card('alice')], [alice.key]);
  const removal = forger.message('removal', fields, { armor });
  await alice.place.ok('team remove -q bob --yes');
  putMany(alice, bob, 9000, (index) =>
    removal
      .replace(/^at .*$/m, `at 20${String(10 + (index % 90))}-01-01T00:00:00Z`)
      .replace(/^older .*$/m, `older ${Buffer.from(String(index).padEnd(64)).toString('base64')}`),
  );
  const told = await alice.place.run('secrets get app.env DB');
  expect(told.stdout).toBe('s3cret');
  expect(told.stderr.split('\n').length).toBeLessThan(15);
  await alice.place.ok('team remove -q carol --yes');
  await writes(alice, 'x');
  expect(await value(alice)).toBe('x');
});
