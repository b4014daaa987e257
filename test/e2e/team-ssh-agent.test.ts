import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { freshIdentity, recipientOfIdentity } from '../../src/transit/envelope/age/recipients.ts';
import { fact, People, type Person, pull, push } from './team-people.ts';
import { canUseTerminals, onTerminal, type Screen, type Step } from './terminal.ts';

/* An admin whose signing key is in an ssh-agent: the one of OpenSSH. */

const PASSPHRASE = 'a passphrase';
const PASSPHRASE_ASKED: Step = ['Passphrase for [^ ]*id_ed25519', `${PASSPHRASE}\r`];
/** The question, which Enter answers with yes. */
const ASKED = 'Sign as alice with the key SHA256:[^ ]* of your ssh-agent';
const YES: Step = [ASKED, '\r'];
const NO: Step = [ASKED, 'n\r'];

/** Starts an agent that has the key of somebody. @returns its socket */
async function agentOf({ home }: Person, ...options: readonly string[]): Promise<string> {
  const socket = join(home, 'ssh-agent');
  const agent = spawn('ssh-agent', ['-D', '-a', socket], {
    stdio: 'ignore',
    env: { ...process.env, DISPLAY: 'none', SSH_ASKPASS: '/bin/false' },
  });
  onTestFinished(() => void agent.kill());
  await vi.waitUntil(() => existsSync(socket), { timeout: 20_000 });
  const key = join(home, '.ssh', 'id_ed25519');
  const env = { ...process.env, SSH_AUTH_SOCK: socket };
  expect(spawnSync('ssh-add', ['-q', ...options, key], { env }).status).toBe(0);
  return socket;
}

/** Gives the key of somebody a passphrase. */
function lock({ home }: Person): void {
  const key = join(home, '.ssh', 'id_ed25519');
  spawnSync('ssh-keygen', ['-q', '-p', '-a', '1', '-P', '', '-N', PASSPHRASE, '-f', key]);
}

/**
 * Alice is an admin by a key that is in her ssh-agent, and has a passphrase in its file. A second card of hers, of age, opens the keyring.
 */
async function admin(...options: readonly string[]) {
  const people = new People();
  const alice = people.person('alice');
  await alice.place.ok('team init -q');
  const identity = freshIdentity(systemRandom);
  await alice.place.ok(['team', 'add', '-q', '--yes', 'alice', recipientOfIdentity(identity)]);
  const SSH_AUTH_SOCK = await agentOf(alice, ...options);
  lock(alice);
  push(alice);
  const on = (script: string, steps: readonly Step[], more: Readonly<Record<string, string>> = {}): Screen =>
    onTerminal(alice.place.with({ SSH_AUTH_SOCK, COFFER_IDENTITY: identity, ...more }), script, {
      steps,
      columns: 200,
    });
  return { people, alice, on, identity, SSH_AUTH_SOCK };
}

describe.skipIf(!canUseTerminals)('the ssh-agent of an admin', () => {
  it('signs on a terminal, after a question, with no private key and no passphrase', async () => {
    const { people, alice, on } = await admin();
    const rotated = on('coffer team key rotate app', [YES]);
    expect(rotated.text).toContain('app is at version 2');
    expect(rotated.exitCode).toBe(0);
    // What it signed is what anybody verifies.
    push(alice);
    const machine = people.freshMachine(alice, 'alice-2');
    pull(machine);
    writeFileSync(join(machine.home, 'signers'), `alice ${alice.key}\n`);
    const [text, signature = ''] = readFileSync(fact(alice, 'keys/app.v2.'), 'utf8').split('signature ');
    const armored = `-----BEGIN SSH SIGNATURE-----\n${signature.trim()}\n-----END SSH SIGNATURE-----\n`;
    writeFileSync(join(machine.home, 'signature'), armored);
    const verified = spawnSync(
      'ssh-keygen',
      '-Y verify -f signers -I alice -n coffer-team -s signature'.split(' '),
      { cwd: machine.home, input: text, encoding: 'utf8' },
    );
    expect(verified.stdout).toContain('Good "coffer-team" signature for alice');
  });

  it('signs all that a command changes after one question, and without one after --yes', async () => {
    const { people, alice, on } = await admin();
    const bob = people.person('bob');
    const added = on(`coffer team add bob "${bob.key}"`, [YES]);
    expect(added).toMatchObject({ exitCode: 0 });
    const removed = on('coffer team remove bob --yes', []);
    expect(removed.text).toContain('Signing as alice with the key SHA256:');
    expect(removed.exitCode).toBe(0);
    expect(fact(alice, 'removals/bob.')).not.toBe('');
    expect(fact(alice, 'keys/app.v2.')).not.toBe('');
  });

  it('is not used after a no, nor off a terminal, nor with --no-prompt', async () => {
    const { alice, on, identity, SSH_AUTH_SOCK } = await admin();
    const no = on('coffer team key rotate app', [NO]);
    expect(no.text).toContain('the key that signs for alice is not available');
    const silent = on('coffer team key rotate app --no-prompt', []);
    expect(silent.text).toContain('alice is a user');
    const piped = alice.place.with({ SSH_AUTH_SOCK, COFFER_IDENTITY: identity });
    expect(await piped.refused('team key rotate app --yes', 4)).toContain('alice is a user');
    expect(() => fact(alice, 'keys/app.v2.')).toThrow('there is no');
  });

  it('makes a keyring without the passphrase of the key, which is asked for once the keyring is opened', async () => {
    const people = new People();
    const alice = people.person('alice');
    const place = alice.place.with({ SSH_AUTH_SOCK: await agentOf(alice) });
    lock(alice);
    const made = onTerminal(place, 'coffer team init', { steps: [YES], columns: 200 });
    expect(made).toMatchObject({ exitCode: 0 });
    // The passphrase that opens the keyring unlocks the key that signs: the agent is not asked about.
    const rotated = onTerminal(place, 'coffer team key rotate app', {
      steps: [PASSPHRASE_ASKED],
      columns: 200,
    });
    expect(rotated.text).not.toContain('ssh-agent');
    expect(rotated.exitCode).toBe(0);
  });

  it('is not asked to sign for somebody who opens nothing, and the error says what is missing', async () => {
    const { on } = await admin();
    const { text, exitCode } = on('coffer team key rotate app', [], {
      COFFER_IDENTITY: freshIdentity(systemRandom),
    });
    expect(text).toContain('your ssh-agent can sign as alice, but none of your keys decrypts the keyring');
    expect(text).toContain('an ssh-agent cannot decrypt');
    expect(exitCode).toBe(4);
  });

  it('changes nothing where it refuses, as after a no to its own question', async () => {
    const { alice, on } = await admin('-c');
    const { text, exitCode } = on('coffer team key rotate app', [YES]);
    expect(text).toContain('the ssh-agent refused to sign');
    expect(exitCode).toBe(4);
    expect(() => fact(alice, 'keys/app.v2.')).toThrow('there is no');
  });

  it('that gives no valid response is warned of, and the passphrase of the key is asked for instead', async () => {
    const people = new People();
    const alice = people.person('alice');
    lock(alice);
    const socket = join(alice.home, 'liar');
    const liar = spawn('python3', ['-c', LIAR, socket], { stdio: 'ignore' });
    onTestFinished(() => void liar.kill());
    await vi.waitUntil(() => existsSync(socket), { timeout: 20_000 });
    const { text, exitCode } = onTerminal(alice.place.with({ SSH_AUTH_SOCK: socket }), 'coffer team init', {
      steps: [PASSPHRASE_ASKED],
      columns: 200,
    });
    expect(text).toContain('warning: the ssh-agent gave no valid response');
    expect(exitCode).toBe(0);
  });
});

/** An agent that answers each request with a mebibyte. */
const LIAR = `
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
while True:
    connection, _ = server.accept()
    try:
        connection.recv(4096)
        connection.sendall((1 << 20).to_bytes(4, 'big') + bytes(1 << 20))
    except OSError:
        pass
    connection.close()
`;
