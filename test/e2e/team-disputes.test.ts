import { expect, it } from 'vitest';
import { spelled } from '../../src/team/names.ts';
import { Forger } from './team-forging.ts';
import { type Person, pull, push, team } from './team-people.ts';

/* Admins who remove each other in turn, on two branches. */

const ARMOR = '-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n-----END AGE ENCRYPTED FILE-----\n';
const NAMES = ['alice', 'bob', 'carol', 'erin'] as const;

/** All are admins; whatever they sign is written into the clone of alice. */
async function dispute() {
  const { people, alice, others } = await team('bob', 'carol', 'erin');
  const signers = new Map([alice, ...others].map((person) => [person.name, new Forger(person, alice)]));
  const start = new Forger(alice).heads;
  /** Somebody removes somebody. @returns the ID of the removal */
  const removes = (by: string, out: string, after: readonly string[] = start): string => {
    const signer = signers.get(by);
    if (signer === undefined) throw new Error(`${by} is not there`);
    return signer.put(
      'removal',
      [
        ['without', [signer.card(out)]],
        ['for', NAMES.filter((name) => name !== out).map((name) => signer.card(name))],
        ['check', '0'.repeat(32)],
        ['older', 'AAAA'],
      ],
      { armor: ARMOR, after },
    );
  };
  /** A machine of alice's that remembers nothing, and has all that was signed. */
  const machine = (): Person => {
    push(alice);
    const fresh = people.freshMachine(alice, 'alice-2');
    pull(fresh);
    return fresh;
  };
  return { removes, machine };
}

const names = async ({ place }: Person): Promise<readonly string[]> => {
  const listed = (await place.json('team list -q')) as { members: { name: string }[] };
  return listed.members.map(({ name }) => name);
};

it('two disputes end with the IDs of two removals, one after the other', async () => {
  const { removes, machine } = await dispute();
  const ofBob = removes('alice', 'bob');
  const byBob = removes('bob', 'alice');
  const ofErin = removes('carol', 'erin');
  const byErin = removes('erin', 'carol');
  const fresh = machine();
  const first = await fresh.place.run(['team', 'trust', ofBob]);
  expect(first).toMatchObject({ exitCode: 1 });
  for (const id of [ofErin, byErin]) expect(first.stderr).toContain(spelled(id));
  for (const id of [ofBob, byBob]) expect(first.stderr).not.toContain(spelled(id));
  expect(first.stderr).toContain('run "coffer team trust ID" once more, with the ID of a listed removal');
  expect(await fresh.place.run(['team', 'trust', ofErin])).toMatchObject({ exitCode: 0 });
  expect(await names(fresh)).toEqual(['alice', 'carol']);
});

it('a dispute in a circle, of two removals on each branch, ends with the ID of one of those that are right', async () => {
  const { removes, machine } = await dispute();
  const ofBob = removes('alice', 'bob');
  const byBob = removes('bob', 'alice', [ofBob]);
  const ofCarol = removes('alice', 'carol');
  const byCarol = removes('carol', 'alice', [ofCarol]);
  const fresh = machine();
  const stopped = await fresh.place.run(['team', 'trust', new Forger(fresh).store]);
  for (const id of [ofBob, byBob, ofCarol, byCarol]) expect(stopped.stderr).toContain(spelled(id));
  // Bob is out by what somebody said who was asked, so his own removal stands in nobody's way.
  expect(await fresh.place.run(['team', 'trust', ofBob])).toMatchObject({ exitCode: 0 });
  expect(await names(fresh)).toEqual(['alice', 'erin']);
});

it('a removal by an admin who was removed before revives no dispute of others, on any machine', async () => {
  const { removes, machine } = await dispute();
  const ofBob = removes('alice', 'bob');
  removes('bob', 'alice', [ofBob]);
  const ofCarol = removes('alice', 'carol');
  removes('carol', 'bob', [ofCarol]);
  const fresh = machine();
  expect(await fresh.place.run(['team', 'trust', ofBob])).toMatchObject({ exitCode: 0 });
  expect(await names(fresh)).toEqual(['alice', 'erin']);
});

it('a removal that removes nobody of a dispute ends none by its ID', async () => {
  const { removes, machine } = await dispute();
  const ofBob = removes('alice', 'bob');
  removes('bob', 'alice');
  const fresh = machine();
  const store = (await fresh.place.run('team check')).stderr;
  expect(store).toContain('not trusted on this machine yet');
  const { stderr } = await fresh.place.run(['team', 'trust', new Forger(fresh).store]);
  expect(stderr).toContain('use the ID of the removal that this admin made');
  expect(await fresh.place.run(['team', 'trust', ofBob])).toMatchObject({ exitCode: 0 });
  expect(await names(fresh)).toEqual(['alice', 'carol', 'erin']);
});
