import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { portOver } from '../../src/service/agent/calls.ts';
import { Rpc } from '../../src/service/rpc.ts';
import { hasProcessFiles } from '../hygiene/processes.ts';
import {
  agentsOf,
  freshStores,
  fromElsewhere,
  isGone,
  isLocked,
  KEY,
  kill,
  LOCKED,
  over,
  statusOf,
  unlockedStore,
  WITHIN,
} from './agent-target.ts';
import { binary, type Place } from './harness.ts';

let place: Place;
let owner: Place;

const use = (bare: Place, known: Place): void => {
  place = bare;
  owner = known;
};

describe('a store that was unlocked', () => {
  freshStores(use);

  it('is used by later commands with no variable set, until it is locked', async () => {
    expect(await place.refused('transit encrypt app hello', LOCKED)).toContain('the store is locked');
    expect((await owner.run('unlock')).stderr).toMatch(
      /^Unlocked until idle for 15 minutes, at most until .*\d\d:\d\d\. Run "coffer lock" to lock it\.\n$/,
    );
    const ciphertext = await place.ok('transit encrypt app hello');
    expect(ciphertext).toMatch(/^service:v1:/);
    expect(await place.ok(['transit', 'decrypt', 'app', ciphertext])).toBe('hello');
    expect(await statusOf(place)).toMatchObject({ locked: false, uses: 2 });
    const { pid, socket, api } = await statusOf(place);
    // What is no call is passed over, and whoever sent it is answered afterwards.
    const peer = portOver(connect(socket));
    peer.send({ answer: 7, value: 'nobody asked' });
    expect(await new Rpc(peer, {}).call('status')).toMatchObject({ pid });
    await place.ok('lock');
    await vi.waitUntil(() => isGone(pid), WITHIN);
    expect([existsSync(socket), existsSync(api)]).toEqual([false, false]);
    expect(await place.refused('transit keys list', LOCKED)).toContain('the store is locked');
    expect(await place.run('lock')).toMatchObject({ exitCode: 0 });
  });

  it('tells until when by the times that were asked for', async () => {
    const before = Date.now();
    await owner.ok('unlock --idle 1h --for 10h');
    const { idle_until: idle, until } = await statusOf(place);
    const hours = (text: string) => Math.round((Date.parse(text) - before) / 3_600_000);
    expect([hours(idle), hours(until)]).toEqual([1, 10]);
  });

  it.each(['abc', '0', '31d', '-5m'])('is not left behind for %s, which is no time for it', async (time) => {
    expect(await place.refused(['unlock', `--idle=${time}`], 2)).toBe(
      `coffer: --idle: invalid value "${time}" (use a duration from 1s to 30d, e.g. 15m or 1h30m)`,
    );
  });

  it('has an agent of its own beside those of other stores', async () => {
    const other = place.with({ COFFER_STORE: place.file('other') });
    await other.with(KEY).ok('init');
    await owner.ok('unlock');
    expect(await isLocked(other)).toBe(true);
    await other.with(KEY).ok('unlock');
    await place.ok('transit keys create here');
    await other.ok('transit keys create there');
    expect([await place.ok('transit keys list'), await other.ok('transit keys list')]).toEqual([
      'here',
      'there',
    ]);
    await place.ok('lock');
    expect(await other.ok('transit keys list')).toBe('there');
  });

  it('is told of by status, with what is in it', async () => {
    await owner.ok('unlock');
    await place.ok('transit keys create app');
    expect(await place.json('status')).toMatchObject({ locked: false, keys: 1, agent: { locked: false } });
    await place.ok('lock');
    const locked = await place.json('status');
    expect(locked).toMatchObject({ locked: true });
    expect(locked).not.toHaveProperty('agent');
  });
});

/** What may be had of an unlocked store with the secret, and what nobody gets. */
const KEYS = [
  'transit keys create app',
  'transit keys create open --exportable --allow-plaintext-backup',
  'transit keys create signer --type ed25519',
];

describe('a store that stays unlocked', () => {
  unlockedStore(use, KEYS);

  it('is asked by commands that start without cryptography of their own', async () => {
    const ciphertext = await place.ok('transit encrypt app hello');
    const hook = place.file('modules.cjs');
    writeFileSync(
      hook,
      "process.addListener('exit', () => require('fs').writeFileSync('modules', process.moduleLoadList.join('\\n')))",
    );
    const hooked = { environment: { NODE_OPTIONS: `--require=${hook}` } };
    expect(await place.spawned.ok(['transit', 'decrypt', 'app', ciphertext], hooked)).toBe('hello');
    const modules = readFileSync(place.file('modules'), 'utf8').split('\n');
    expect(modules).toContain('NativeModule net');
    expect(modules).not.toContain('NativeModule crypto');
  });

  it('stays as it is when it is unlocked again, but for times that are given', async () => {
    const first = await statusOf(place);
    expect((await place.run('unlock')).stderr).toContain('Already unlocked');
    expect((await statusOf(place)).until).toBe(first.until);
    expect(await place.refused('unlock --for 9h', LOCKED)).toContain('the store is unlocked, but');
    await owner.ok('unlock --for 9h');
    const renewed = await statusOf(place);
    expect(renewed.pid).toBe(first.pid);
    expect(Date.parse(renewed.until)).toBeGreaterThan(Date.parse(first.until));
  });

  it('is not opened by an agent in place of a secret that was given and is wrong', async () => {
    const { uses } = await statusOf(place);
    const wrong = place.with({ COFFER_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') });
    expect(await wrong.refused('transit keys list', LOCKED)).toContain(
      'cannot be unlocked with COFFER_MASTER_KEY',
    );
    expect((await statusOf(place)).uses).toBe(uses);
  });

  it('is found under every name of its directory', async () => {
    symlinkSync('store', place.file('link'));
    expect(await isLocked(place.with({ COFFER_STORE: 'store' }))).toBe(false);
    expect(await isLocked(place.with({ COFFER_STORE: place.file('link') }))).toBe(false);
  });

  it('offers names to completion', async () => {
    expect(await place.ok('complete key')).toBe('app\nopen\nsigner');
  });

  it('has errors that say what a local command says', async () => {
    for (const line of [
      'transit decrypt nobody service:v1:AAAA',
      'tags list --org x',
      'transit keys read no',
    ]) {
      expect(await place.run(line)).toMatchObject(await owner.run(line));
    }
  });
});

describe('what outlives an agent', () => {
  unlockedStore(use, KEYS);

  it.each([
    'token create',
    'transit backup open',
    'transit keys export open --key-type encryption-key',
    'read transit/export/encryption-key/open',
    'write auth/token/create ttl=1h',
  ])('takes the secret again: %s', async (line) => {
    expect(await place.refused(line, LOCKED)).toMatch(
      /can be used even while the store is locked.*help environment/,
    );
    await owner.ok(line);
  });

  it.each([
    ['transit keys export app --key-type encryption-key', 'the key is not exportable'],
    ['transit backup app', 'backups of this key are not allowed'],
    ['transit byok-export app app', 'key is not exportable'],
    ['transit keys export none --key-type encryption-key', 'key "none" not found'],
  ])('is refused before the secret is asked for, if it would be anyway: %s', async (line, why) => {
    const { exitCode, stderr } = await place.run(line);
    expect({ exitCode, stderr }).toEqual({
      exitCode: why.includes('not found') ? 3 : 1,
      stderr: expect.stringContaining(`coffer: ${why}`),
    });
    expect(stderr).not.toContain('locked');
    expect((await owner.run(line)).stderr).toBe(stderr);
  });

  it.each(['slots list', 'rekey', 'store backup saved'])('never goes through an agent: %s', async (line) => {
    expect(await place.refused(line, LOCKED)).toContain(
      'the store is unlocked, but this command always needs a secret that unlocks it (set COFFER_MASTER_KEY_FILE=FILE; see "coffer help environment"',
    );
  });

  it('does not count what anybody may have', async () => {
    expect(await place.ok('transit keys export signer --key-type public-key')).not.toBe('');
  });
});

describe('an agent ends', () => {
  freshStores(use);

  it('when it was not used for its time', async () => {
    await owner.ok('unlock --idle 1s');
    const { pid } = await statusOf(place);
    await vi.waitUntil(() => isGone(pid), WITHIN);
    expect(await place.refused('transit keys list', LOCKED)).toContain('the store is locked');
  });

  it('when its whole time is up, however much it is used', async () => {
    await owner.ok('unlock --for 2s --idle 2s');
    const { pid } = await statusOf(place);
    await vi.waitUntil(async () => {
      await place.run('transit keys list');
      return isGone(pid);
    }, WITHIN);
    expect(await isLocked(place)).toBe(true);
  });

  it('when the slot that opened the store is removed, before anything else is done', async () => {
    await owner.ok('transit keys create app');
    const passphrase = { COFFER_NEW_PASSPHRASE: 'correct horse battery' };
    const id = ((await owner.json('slots add --passphrase', { environment: passphrase })) as { id: string })
      .id;
    const other = place.with({ COFFER_PASSPHRASE: 'correct horse battery' });
    await other.ok('unlock');
    expect(await place.ok('transit keys list')).toBe('app');
    const { pid } = await statusOf(place);
    await owner.ok(`slots remove ${id} --yes`);
    expect(await place.refused('transit keys list', LOCKED)).toContain('the store is locked');
    expect(await isLocked(place)).toBe(true);
    return vi.waitUntil(() => isGone(pid), WITHIN);
  });

  it.each(['unlock', 'unlock --idle 1h'])('for who says "%s" after that', async (unlock) => {
    const passphrase = { COFFER_NEW_PASSPHRASE: 'correct horse battery' };
    const id = ((await owner.json('slots add --passphrase', { environment: passphrase })) as { id: string })
      .id;
    await place.with({ COFFER_PASSPHRASE: 'correct horse battery' }).ok('unlock');
    await owner.ok(`slots remove ${id} --yes`);
    await owner.ok(unlock);
    expect(await place.ok('transit keys list')).toBe('');
  });

  it('when the store is rekeyed elsewhere', async () => {
    await owner.ok('unlock');
    const { pid } = await statusOf(place);
    await fromElsewhere(owner).ok('rekey');
    expect(await place.refused('transit keys list', LOCKED)).toContain('the store is locked');
    return vi.waitUntil(() => isGone(pid), WITHIN);
  });

  it('which a command tells that can ask nobody for the passphrase', async () => {
    const passphrase = { COFFER_NEW_PASSPHRASE: 'correct horse battery' };
    expect(await place.refused('transit keys list', LOCKED)).not.toContain('coffer unlock');
    await owner.ok('slots add --passphrase', { environment: passphrase });
    expect(await place.refused('transit keys list', LOCKED)).toContain(
      ': run "coffer unlock" on a terminal, or see "coffer help environment")',
    );
  });

  it('at once when the store is rekeyed here, so that the next unlock opens it', async () => {
    await owner.ok('unlock');
    await owner.ok('rekey');
    expect(await isLocked(place)).toBe(true);
    await owner.ok('unlock');
    expect(await place.ok('transit keys list')).toBe('');
  });

  it('when another store comes into the place of its own', async () => {
    await owner.ok('unlock');
    const { pid } = await statusOf(place);
    renameSync(place.file('store'), place.file('moved'));
    await owner.ok('init');
    expect(await place.refused('transit keys list', LOCKED)).toContain('the store is locked');
    return vi.waitUntil(() => isGone(pid), WITHIN);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'on %s, and takes its sockets with it',
    async (signal) => {
      await owner.ok('unlock');
      const { pid, socket, api } = await statusOf(place);
      kill(pid, signal);
      await vi.waitUntil(() => isGone(pid), WITHIN);
      expect([existsSync(socket), existsSync(api)]).toEqual([false, false]);
    },
  );

  it('when the directory of the session is taken away', async () => {
    await owner.ok('unlock');
    const { pid } = await statusOf(place);
    rmSync(place.file('run'), { recursive: true });
    await vi.waitUntil(() => isGone(pid), WITHIN);
  });

  it('when it is told to through its API', async () => {
    await owner.ok('unlock');
    const { pid, api } = await statusOf(place);
    expect((await over(api, 'POST', '/v1/sys/seal')).status).toBe(204);
    await vi.waitUntil(() => isGone(pid), WITHIN);
  });

  it.skipIf(!hasProcessFiles)('when it is to lock and does not answer, because it was stopped', async () => {
    await owner.ok('unlock');
    const { pid, socket, api } = await statusOf(place);
    kill(pid, 'SIGSTOP');
    const locked = await place.run('lock');
    expect(locked).toMatchObject({ exitCode: 0 });
    expect(locked.stderr).toContain(`the agent (process ${pid}) did not respond and was killed`);
    await vi.waitUntil(() => isGone(pid), WITHIN);
    expect([existsSync(socket), existsSync(api)]).toEqual([false, false]);
    expect(await place.refused('transit keys list', LOCKED)).toContain('the store is locked');
  });

  it('by SIGKILL, and the next command works and clears up', async () => {
    await owner.ok('unlock');
    const { pid, socket } = await statusOf(place);
    const files = readdirSync(dirname(socket)).sort();
    kill(pid, 'SIGKILL');
    await vi.waitUntil(() => isGone(pid), WITHIN);
    expect(existsSync(socket)).toBe(true);
    expect(await place.refused('transit keys list', LOCKED)).toContain('the store is locked');
    await owner.ok('unlock');
    expect(await statusOf(place)).toMatchObject({ locked: false });
    expect(readdirSync(dirname(socket)).sort()).toEqual(files);
    expect(files).toEqual([
      'age.sock',
      'agent.sock',
      'api.sock',
      'lock',
      'pkcs11.sock',
      'sops.sock',
      'ssh.sock',
    ]);
  });
});

describe('two at the same moment', () => {
  freshStores(use);

  const ended = async (
    by: Place,
    command: string,
  ): Promise<{ readonly code: number; readonly said: string }> => {
    const child = spawn(process.execPath, [binary, command], {
      env: by.environment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const [code] = (await once(child, 'close')) as [number];
    return { code, said };
  };

  it('do not fail to lock because the agent ends by itself', async () => {
    await owner.ok('unlock');
    const { socket } = await statusOf(place);
    await place.ok('lock');
    const ending = createServer((connection) => {
      connection.once('data', () => {
        ending.close();
        connection.destroy();
      });
    }).listen(socket);
    await once(ending, 'listening');
    chmodSync(socket, 0o600);
    const { code, said } = await ended(place, 'lock');
    expect({ code, said }).toEqual({ code: 0, said: expect.not.stringContaining('did not respond') });
  });

  it('come to one agent, and both are told until when', async () => {
    const all = await Promise.all([1, 2, 3].map(() => ended(owner, 'unlock')));
    for (const { code, said } of all)
      expect({ code, said }).toMatchObject({ code: 0, said: expect.any(String) });
    const { pid } = await statusOf(place);
    expect(await isLocked(place)).toBe(false);
    if (hasProcessFiles) {
      await vi.waitUntil(() => agentsOf(place).length === 1, WITHIN);
      expect(agentsOf(place)).toEqual([{ pid }]);
    }
  });
});
