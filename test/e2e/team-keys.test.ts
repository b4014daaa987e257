import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { freshIdentity, recipientOfIdentity } from '../../src/transit/envelope/age/recipients.ts';
import { printBech32 } from '../../src/transit/key-types/age/bech32.ts';
import { xWingKem } from '../../src/transit/key-types/age/x-wing.ts';
import { factsOf, People, pull, push } from './team-people.ts';

describe('the keys of people in a keyring', () => {
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

  it('are refused with a passphrase in the own format of OpenSSH, with what to type in place of it', async () => {
    const people = new People();
    const alice = people.person('alice');
    const key = join(alice.home, '.ssh', 'id_ed25519');
    spawnSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', 'a passphrase', '-f', key]);
    const refused = await alice.place.refused('team init', 2);
    expect(refused).toContain(`${key}: the SSH private key is encrypted with a passphrase`);
    const [, line = ''] = /delete the copy afterwards: (.*?); then use COPY in its place/.exec(refused) ?? [];
    expect(line).toBe(`cp ${key} COPY && ssh-keygen -p -N '' -f COPY`);
    const typed = line.replace("-N ''", "-P 'a passphrase' -N ''");
    expect(spawnSync('sh', ['-c', typed], { cwd: alice.place.directory }).status).toBe(0);
    await alice.place.ok('team init -q --identity COPY');
  });
});
