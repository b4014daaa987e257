import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { freshIdentity, recipientOfIdentity } from '../../src/transit/envelope/age/recipients.ts';
import { printBech32 } from '../../src/transit/key-types/age/bech32.ts';
import { xWingKem } from '../../src/transit/key-types/age/x25519.ts';
import { factsOf, idOf, People, type Person, pull, push, team } from './team-people.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

describe('the keys of people in a keyring', () => {
  it('keeps one key of somebody out who goes on with another', async () => {
    const { people, alice, others } = await team('bob');
    const [bob] = others as [Person];
    const machine = people.person('bob-2');
    await alice.place.ok(['team', 'add', '-q', '--yes', 'bob', machine.key, '--admin']);
    const old = factsOf(alice).filter((path) => path.startsWith('members/bob.'));
    const first = old.find((path) =>
      readFileSync(alice.place.file(`.coffer/${path}`), 'utf8').includes(bob.key.split(' ')[1] ?? ''),
    );
    await alice.place.ok(['team', 'remove', '-q', '--yes', 'bob', '--card', idOf(first ?? '')]);
    const newest = (await alice.place.json('team log')) as { facts: { id: string }[] };
    push(alice);
    pull(bob);
    pull(machine);
    await machine.place.ok(['team', 'trust', '-q', newest.facts.at(-1)?.id ?? '']);
    expect(await machine.place.ok('secrets get app.env DB')).toBe('s3cret');
    expect((await bob.place.run('secrets get app.env DB')).exitCode).toBe(4);
  });

  it('may be of age, of RSA and hybrid, and an admin with one of age has a signing key in the card', async () => {
    const people = new People();
    const [alice, bob] = [people.person('alice'), people.person('bob')];
    const founder = alice.place.with({ COFFER_IDENTITY: freshIdentity(systemRandom) });
    await founder.ok('team init -q');
    writeFileSync(alice.place.file('.coffer.yaml'), 'rules:\n  - files: "*.env"\n    key: app\n');
    await founder.ok(['secrets', 'set', '-q', 'app.env', 'DB', 's3cret']);
    const rsa = join(bob.home, 'rsa');
    spawnSync('ssh-keygen', ['-q', '-t', 'rsa', '-b', '2048', '-N', '', '-f', rsa]);
    const hybrid = printBech32(xWingKem.identityPrefix, systemRandom.bytes(32)).toUpperCase();
    await founder.ok(['team', 'add', '-q', 'bob', readFileSync(`${rsa}.pub`, 'utf8')]);
    const added = (await founder.json(['team', 'add', 'zoe', recipientOfIdentity(hybrid)])) as {
      trust: string;
    };
    push(alice);
    pull(bob);
    await bob.place.with({ COFFER_IDENTITY_FILE: rsa }).ok(['team', 'trust', '-q', added.trust]);
    for (const identity of [{ COFFER_IDENTITY_FILE: rsa }, { COFFER_IDENTITY: hybrid }]) {
      expect(await bob.place.with(identity).ok('secrets get app.env DB')).toBe('s3cret');
    }
    // A removal gives its root key to all three at once.
    const fourth = freshIdentity(systemRandom);
    await founder.ok(['team', 'add', '-q', 'erin', recipientOfIdentity(fourth)]);
    await founder.ok('team remove -q erin --yes');
    push(alice);
    pull(bob);
    for (const identity of [{ COFFER_IDENTITY_FILE: rsa }, { COFFER_IDENTITY: hybrid }]) {
      expect(await bob.place.with(identity).ok('secrets get -q app.env DB')).toBe('s3cret');
    }
    expect((await bob.place.with({ COFFER_IDENTITY: fourth }).run('secrets get app.env DB')).exitCode).toBe(
      4,
    );
    expect(factsOf(alice).some((path) => path.startsWith('removals/erin.'))).toBe(true);
  });

  it.skipIf(!canUseTerminals)(
    'may have a passphrase in the own format of OpenSSH, which is asked for once',
    async () => {
      const people = new People();
      const alice = people.person('alice');
      const key = lock(alice);
      const wrong = onTerminal(alice.place, 'coffer team init', {
        steps: [[ASKED, 'another\r']],
        columns: 200,
      });
      expect(wrong.exitCode).toBe(2);
      expect(wrong.text).toContain('check the passphrase');
      expect(wrong.text).not.toContain('--identity');
      const made = onTerminal(alice.place, 'coffer team init', {
        steps: [[ASKED, `${PASSPHRASE}\r`]],
        columns: 200,
      });
      expect(made.exitCode).toBe(0);
      // A second question would have found no answer.
      const refused = await alice.place.refused('team key rotate app', 4);
      expect(refused).toContain(`${key} is encrypted: cannot prompt for its passphrase`);
    },
  );

  it.skipIf(!canUseTerminals)(
    'of OpenSSH that cannot be decrypted here are refused with what converts a copy',
    async () => {
      const people = new People();
      const alice = people.person('alice');
      const key = lock(alice, '-Z', 'chacha20-poly1305@openssh.com');
      const refused = await alice.place.refused('team init', 2);
      expect(refused).toContain(`${key}: the SSH private key is encrypted with an unsupported cipher`);
      const [, line = ''] = /convert a copy: (.*?); then use COPY in its place/.exec(refused) ?? [];
      const typed = line.replace('ssh-keygen', `ssh-keygen -P '${PASSPHRASE}' -N '${PASSPHRASE}'`);
      expect(spawnSync('sh', ['-c', typed], { cwd: alice.place.directory }).status).toBe(0);
      const { exitCode } = onTerminal(alice.place, 'coffer team init --identity COPY', {
        steps: [['Passphrase for COPY', `${PASSPHRASE}\r`]],
      });
      expect(exitCode).toBe(0);
    },
  );
});

const PASSPHRASE = 'a passphrase';
const ASKED = 'Passphrase for [^ ]*id_ed25519';

/** Gives the key of somebody a passphrase. @returns its path */
function lock({ home }: Person, ...options: readonly string[]): string {
  const key = join(home, '.ssh', 'id_ed25519');
  spawnSync('ssh-keygen', ['-q', '-p', ...options, '-a', '1', '-P', '', '-N', PASSPHRASE, '-f', key]);
  return key;
}
