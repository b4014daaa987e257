import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { factsOf, type Person, pull, push, save, team } from './team-people.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

/** Bob, an admin, has added Erin; Alice has pulled, and does not know her. */
async function withGuest() {
  const { people, alice, others } = await team('bob');
  const [bob] = others as [Person];
  const erin = people.person('erin');
  await bob.place.ok(['team', 'add', '-q', 'erin', erin.key]);
  push(bob);
  pull(alice);
  return { alice, erin };
}

describe('a removal', () => {
  it('that will be refused is refused before anybody is asked', async () => {
    const { alice, others } = await team('dave');
    const [dave] = others as [Person];
    expect(await dave.place.refused('team remove alice', 4)).toContain('dave is a user');
    writeFileSync(alice.place.file('eve'), '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n');
    expect(await alice.place.refused('team add eve eve', 2)).toBe(
      'coffer: RECIPIENT: this is a private key (use its public key, e.g. the file with .pub)',
    );
    expect(await alice.place.refused('team add eve nofile.pub', 2)).toContain(
      'RECIPIENT: nofile.pub is neither a file nor a public key (use age1…',
    );
    rmSync(alice.place.file('eve'));
    expect(await alice.place.refused('team remove alice', 1)).toMatch(
      /^coffer: at least one admin must stay \(make another member an admin first: coffer team add (?:dave 'ssh-ed25519 \S+'|NAME NAME\.pub) --admin\)$/,
    );
    expect(await alice.place.refused('team remove dvae', 3)).toBe(
      'coffer: no member "dvae" in this keyring (did you mean "dave"?)',
    );
    expect(await alice.place.refused('team remove dave', 2)).toContain('cannot prompt for confirmation');
    save(alice);
  });

  it('says of a member who was removed before that nothing changed, and never that it was done again', async () => {
    const { alice } = await withGuest();
    expect((await alice.place.run('team remove bob --yes')).stderr).toContain('Removed bob. All keys have');
    const again = await alice.place.run('team remove bob --yes -o json');
    expect(again.exitCode).toBe(0);
    expect(again.stderr).toContain('No changes made: bob was already removed.\nbob could read these values.');
    expect(again.stderr).not.toContain('Removed bob');
    expect(JSON.parse(again.stdout)).toMatchObject({ name: 'bob', to_change: [{ file: 'app.env' }] });
  });

  it('gives no keys, by a yes to the removal, to somebody whom this machine does not know', async () => {
    const { alice, erin } = await withGuest();
    const removed = await alice.place.run('team remove bob --yes');
    expect(removed).toMatchObject({ exitCode: 0 });
    expect(removed.stderr).toContain(
      'members added by the removed member stay: erin (remove each that should not, with e.g. "coffer team remove erin")',
    );
    expect(removed.stderr).toMatch(
      /erin is new to this machine \(added by bob at .*\), and does not get the team's keys/,
    );
    push(alice);
    pull(erin);
    const first = factsOf(erin).find((path) => path.startsWith('store.')) ?? '';
    await erin.place.ok(['team', 'trust', '-q', first.slice(-32)]);
    expect((await erin.place.run('secrets get -q app.env DB')).exitCode).toBe(4);
    // Once somebody has said that she is right, she has them.
    await alice.place.ok('team settle -q --yes');
    push(alice);
    pull(erin);
    expect(await erin.place.ok('secrets get -q app.env DB')).toBe('s3cret');
  });

  it.skipIf(!canUseTerminals)(
    'asks on a terminal about everybody whom the removed one has added',
    async () => {
      const { alice } = await withGuest();
      await alice.place.ok('team settle -q --yes');
      const { exitCode, text } = onTerminal(alice.place, 'coffer team remove bob', {
        steps: [
          ['Remove bob', 'y\r'],
          ["the team's keys", 'n\r'],
        ],
      });
      expect({ exitCode, text }).toMatchObject({ exitCode: 0 });
      expect(text.replace(/\s+/g, ' ')).toMatch(/added by bob/);
      expect(text).toMatch(/^ {4}# at least: (?:[0-9a-z]{4}-){7}[0-9a-z]{4}$/m);
      const listed = (await alice.place.json('team list -q')) as {
        members: { name: string; waits: boolean }[];
      };
      expect(listed.members.find(({ name }) => name === 'erin')?.waits).toBe(true);
    },
  );
});

describe.skipIf(!canUseTerminals)('on a terminal of 60 columns', () => {
  it('the command that a member sends on has a line of its own, and no key is broken', async () => {
    const { people, alice } = await team();
    const erin = people.person('erin');
    const added = onTerminal(alice.place, `coffer team add erin ${JSON.stringify(erin.key)}`, {
      columns: 60,
    });
    expect(added.text).toMatch(
      /\nSend erin this command, but not through the repository:\n {4}coffer team trust [\w-]+\n/,
    );
    const { text } = onTerminal(alice.place, 'coffer team', { columns: 60 });
    expect(text).toMatch(/\nTo trust this keyring elsewhere:\n {4}coffer team trust [\w-]+\n/);
    expect(text).toMatch(/│ AAAAC3NzaC1lZDI1…\S{8} │/);
  });
});
