import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { portOver } from '../../src/service/agent/calls.ts';
import { Rpc } from '../../src/service/rpc.ts';
import { freshIdentity, recipientOfIdentity } from '../../src/transit/envelope/age/recipients.ts';
import { isLong } from '../long.ts';
import { FAKE_IDENTITY, FAKE_RECIPIENT, makeFakePlugin } from '../plugins/fake-plugin.ts';
import { agentsOf, isGone, kill, WITHIN } from './agent-target.ts';
import type { Place } from './harness.ts';
import { fact, People, pull, push } from './team-people.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

/** Bob, who has no store, is in with a key of a plugin, and may have an agent. */
async function withAgent() {
  const people = new People();
  const [alice, bob] = [people.person('alice'), people.person('bob')];
  const bin = join(bob.home, 'bin');
  mkdirSync(bin);
  makeFakePlugin(bin);
  const run = join(people.directory, 'run');
  mkdirSync(run, { mode: 0o700 });
  const PATH = [bin, process.env['PATH']].join(':');
  const at = alice.place.with({ PATH });
  const bobs = bob.place.with({
    PATH,
    FAKE_LOG: join(bob.home, 'log'),
    XDG_RUNTIME_DIR: run,
    COFFER_IDENTITY: FAKE_IDENTITY,
  });
  onTestFinished(() => {
    for (const { pid } of agentsOf({ directory: people.directory } as Place)) kill(pid, 'SIGKILL');
  });
  await at.ok('team init -q');
  writeFileSync(alice.place.file('.coffer.yaml'), 'rules:\n  - files: "*.env"\n    key: app\n');
  await at.ok(['secrets', 'set', '-q', 'app.env', 'DB', 's3cret']);
  const { trust } = (await at.json(['team', 'add', 'bob', FAKE_RECIPIENT])) as { readonly trust: string };
  push(alice);
  pull(bob);
  await bobs.ok(['team', 'trust', '-q', trust]);
  /** How often the plugin was run to open something since this was asked last. */
  const openings = (): number => {
    const log = join(bob.home, 'log');
    const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
    writeFileSync(log, '');
    return text.match(/^run identity-v1/gm)?.length ?? 0;
  };
  /** Directory of the agent of the only keyring. */
  const directory = (): string => {
    const all = join(run, 'coffer', 'keyrings');
    return join(all, readdirSync(all)[0] ?? '');
  };
  openings();
  return { alice, bob, at, bobs, openings, directory };
}
const value = (place: Place): Promise<string> => place.ok('secrets get -q app.env DB');

describe('the agent of a keyring', () => {
  it('opens and encrypts values after one use of the key, for somebody without a store, until it is locked', async () => {
    const { alice, bob, at, bobs, openings, directory } = await withAgent();
    expect((await bobs.run('team unlock')).stderr).toContain('until idle for 15 minutes');
    expect(openings()).toBe(1);
    expect(await value(bobs)).toBe('s3cret');
    await bobs.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'of bob']);
    expect((await bobs.spawned.run('exec -q -f app.env -- printenv DB')).stdout).toBe('of bob\n');
    expect(openings()).toBe(0);
    push(bob);
    pull(alice);
    expect(await value(at)).toBe('of bob');
    for (const path of [directory(), join(directory(), '..')]) expect(statSync(path).mode & 0o77).toBe(0);
    expect(statSync(join(directory(), 'agent.sock')).mode & 0o177).toBe(0);
    await bobs.ok('lock');
    expect(existsSync(join(directory(), 'agent.sock'))).toBe(false);
    expect(await value(bobs)).toBe('of bob');
    expect(openings()).toBe(1);
  });

  it('gives no root key away, and serves nobody whose keys it was not opened with', async () => {
    const { bobs, openings, directory } = await withAgent();
    await bobs.ok('team unlock -q');
    const other = bobs.with({ COFFER_IDENTITY: freshIdentity(systemRandom) });
    expect(await other.refused('secrets get app.env DB', 4)).toContain('none of your keys opens');
    const socket = connect(join(directory(), 'agent.sock'));
    const rpc = new Rpc(portOver(socket), {});
    for (const method of ['roots', 'known', 'handed', 'constructor'])
      await expect(rpc.call(method)).rejects.toThrow('internal error');
    const said = JSON.stringify([await rpc.call('cards'), await rpc.call('status')]);
    expect(said).not.toMatch(/[0-9a-f]{64}|[A-Za-z0-9+/]{43}=/);
    socket.destroy();
    await bobs.ok('lock');
    openings();
  });

  it('is not enough to change the team, and is made anew where a removal has made a new root key', async () => {
    const { alice, bob, at, bobs, openings } = await withAgent();
    await at.ok(['team', 'add', '-q', 'erin', recipientOfIdentity(freshIdentity(systemRandom))]);
    await bobs.ok('team unlock -q');
    openings();
    expect(await bobs.refused('team key rotate app', 4)).toContain(
      'only admins can change the team and its keys; bob is a user (ask an admin: alice)',
    );
    await at.ok('team remove -q erin --yes');
    push(alice);
    pull(bob);
    expect(await value(bobs)).toBe('s3cret');
    expect(openings()).toBe(1);
    await bobs.ok('lock');
  });

  it('has commands that read name what they name without it, whatever changed since it was started', async () => {
    const { alice, bob, at, bobs } = await withAgent();
    const file = join(bob.home, 'identity');
    writeFileSync(file, `${FAKE_IDENTITY}\n`, { mode: 0o600 });
    const reading = bobs.with({ COFFER_IDENTITY: undefined, COFFER_IDENTITY_FILE: file });
    const exec = async (): Promise<string> => {
      const { exitCode, stdout, stderr } = await reading.spawned.run('exec -f app.env -- printenv DB');
      return `${exitCode} ${stdout}${stderr}`;
    };
    const shared = (): void => {
      push(alice);
      pull(bob);
    };
    await at.ok(['team', 'add', '-q', 'erin', recipientOfIdentity(freshIdentity(systemRandom))]);
    shared();
    await reading.ok('team unlock -q');
    expect(await exec()).toBe('0 s3cret\n');
    // Rules that encrypt less.
    const rules = readFileSync(alice.place.file('.coffer.yaml'), 'utf8');
    writeFileSync(alice.place.file('.coffer.yaml'), `${rules}    except: DB\n`);
    shared();
    expect(await exec()).toMatch(/^1 coffer: .coffer.yaml may encrypt less/);
    writeFileSync(alice.place.file('.coffer.yaml'), rules);
    shared();
    expect(await exec()).toBe('0 s3cret\n');
    // A card that nobody has signed.
    const card = readFileSync(fact(bob, 'members/erin.'), 'utf8');
    writeFileSync(fact(bob, 'members/erin.'), card.replace(/(signature .{80})./, '$1_'));
    expect(await exec()).toMatch(/^0 s3cret\n.*members\/erin.*ignored/);
    writeFileSync(fact(bob, 'members/erin.'), card);
    // A value of somebody who left, moved to where new ones are.
    const older = readFileSync(alice.place.file('app.env'));
    await at.ok('team remove -q erin --yes');
    writeFileSync(alice.place.file('app.env'), older);
    shared();
    expect(await exec()).toMatch(/^4 .*is known to removed members \(erin\)/s);
    expect(await exec()).toMatch(/^4 .*is known to removed members \(erin\)/s);
    await at.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'newer']);
    shared();
    expect(await exec()).toContain('newer');
    // His own removal.
    await at.ok('team remove -q bob --yes');
    shared();
    expect(await exec()).toMatch(/^4 .*none of your keys/s);
    await reading.ok('lock');
  });

  it.runIf(isLong)('ends when its time is up, and with a signal', async () => {
    const { bob, bobs, openings } = await withAgent();
    const pids = (): readonly number[] =>
      agentsOf({ directory: join(bob.home, '..') } as Place).map(({ pid }) => pid);
    await bobs.ok('team unlock -q --idle 1s');
    const [first = 0] = pids();
    await vi.waitUntil(() => isGone(first), WITHIN);
    expect(await value(bobs)).toBe('s3cret');
    await bobs.ok('team unlock -q');
    const [second = 0] = pids();
    kill(second, 'SIGTERM');
    await vi.waitUntil(() => isGone(second), WITHIN);
    openings();
    expect(await value(bobs)).toBe('s3cret');
    expect(openings()).toBe(1);
  });

  it.runIf(isLong)('is killed by "lock" if it does not answer', async () => {
    const { bob, bobs } = await withAgent();
    await bobs.ok('team unlock -q');
    const [{ pid } = { pid: 0 }] = agentsOf({ directory: join(bob.home, '..') } as Place);
    kill(pid, 'SIGSTOP');
    expect((await bobs.run('lock')).stderr).toContain(`(process ${pid}) did not respond and was killed`);
    await vi.waitUntil(() => isGone(pid), WITHIN);
  });

  it.runIf(isLong && canUseTerminals)(
    'is offered once on a terminal, where a no holds for the session',
    async () => {
      const { bobs, openings } = await withAgent();
      const twice = 'coffer secrets get app.env DB && coffer secrets get app.env DB';
      const no = onTerminal(bobs, twice, { steps: [['Keep the keyring unlocked', '\n']] });
      expect([no.exitCode, openings()]).toEqual([0, 2]);
      const session = bobs.with({ XDG_RUNTIME_DIR: join(bobs.directory, '..', '..', 'run', 'coffer') });
      const yes = onTerminal(session, twice, {
        steps: [['Keep the keyring unlocked until it has been idle for 15 minutes\\?', 'y\n']],
      });
      expect([yes.exitCode, openings()]).toEqual([0, 1]);
      await session.ok('lock');
    },
  );
});
