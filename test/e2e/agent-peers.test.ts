import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readFrames, writeFrame } from '../../src/service/rpc.ts';
import { Canaries } from '../hygiene/canaries.ts';
import { canReadMemory, findInMemory } from '../hygiene/memory.ts';
import { hasProcessFiles, shownOf } from '../hygiene/processes.ts';
import { formsOf, storeKeys } from '../hygiene/secrets.ts';
import {
  freshStores,
  fromElsewhere,
  isGone,
  LOCKED,
  over,
  statusOf,
  unlockedStore,
  WITHIN,
} from './agent-target.ts';
import { base64, binary, MASTER_KEY, type Place } from './harness.ts';

let place: Place;
let owner: Place;

const use = (bare: Place, known: Place): void => {
  place = bare;
  owner = known;
};

describe('other programs that ask an agent', () => {
  unlockedStore(use);

  it('find the agent by what "env" prints, and need no token', async () => {
    const { api: socket, ssh, pkcs11 } = await statusOf(place);
    expect((await place.ok('agent env')).split('\n')).toEqual([
      `export VAULT_ADDR='unix://${socket}'`,
      `export VAULT_AGENT_ADDR='unix://${socket}'`,
      `export VAULT_TOKEN='agent'`,
      `export SSH_AUTH_SOCK='${ssh}'`,
      `export P11_KIT_SERVER_ADDRESS='unix:path=${pkcs11}'`,
    ]);
    const other = { environment: { SSH_AUTH_SOCK: '/run/other.sock' } };
    expect(await place.ok('agent env', other)).not.toContain('SSH_AUTH_SOCK');
    expect(await place.ok('agent env --ssh', other)).toContain(`SSH_AUTH_SOCK='${ssh}'`);
    const { stdout: token } = await place.shell('eval "$(coffer agent env)"; printf %s "$VAULT_TOKEN"');
    const there = place.with({
      COFFER_STORE: undefined,
      COFFER_ADDR: `unix:${socket}`,
      COFFER_TOKEN: 'agent',
    });
    expect(await there.refused('token create', 4)).toBe(
      'coffer: the secret of the store is required, because what the command prints or allows can be used even while the store is locked (this address is that of an agent, which takes no secret: run "unset COFFER_ADDR", and name the store with --store or COFFER_STORE)',
    );
    const plaintext = base64('hello');
    for (const headers of [{}, { 'x-vault-token': token }, { 'x-vault-token': 's.of-another-server' }]) {
      const made = await over(socket, 'PUT', '/v1/transit/encrypt/app', { plaintext }, headers);
      expect(made.status).toBe(200);
      const { ciphertext } = made.data['data'] as { ciphertext: string };
      const opened = await over(socket, 'POST', '/v1/transit/decrypt/app', { ciphertext }, headers);
      expect(opened.data['data']).toEqual({ plaintext });
    }
    expect((await over(socket, 'GET', '/v1/transit/export/encryption-key/app')).status).toBe(403);
    expect((await over(socket, 'POST', '/v1/auth/token/create', {})).status).toBe(403);
  });

  it('do not keep it open by asking how it is', async () => {
    const { api, uses } = await statusOf(place);
    expect((await over(api, 'GET', '/v1/sys/health')).status).toBe(200);
    expect((await over(api, 'GET', '/v1/sys/seal-status')).status).toBe(200);
    expect((await statusOf(place)).uses).toBe(uses);
  });
});

describe('other programs', () => {
  freshStores(use);

  it('are refused at once when it has locked meanwhile', async () => {
    await owner.ok('unlock');
    const { api, pid } = await statusOf(place);
    await fromElsewhere(owner).ok('rekey');
    expect((await over(api, 'POST', '/v1/transit/encrypt/app', { plaintext: '' })).status).toBe(503);
    await vi.waitUntil(() => isGone(pid), WITHIN);
  });

  it('leave a record of what they did, where one is kept', async () => {
    // A path relative to the directory of the command: that of the agent is another one.
    await owner.spawned.ok('unlock --audit-log audit.log');
    await place.ok('transit encrypt app hello');
    await over((await statusOf(place)).api, 'GET', '/v1/transit/keys/app');
    const records = readFileSync(place.file('audit.log'), 'utf8').trim().split('\n');
    const paths = records.map((line) => (JSON.parse(line) as { request: { path: string } }).request.path);
    expect(paths).toContain('transit/encrypt/app');
    expect(paths).toContain('transit/keys/app');
    expect(records.join('')).not.toContain(base64('hello'));
  });
});

describe('what keeps others out of an agent', () => {
  unlockedStore(use);

  it('is a directory and sockets for their owner alone', async () => {
    const { socket, api } = await statusOf(place);
    const modeOf = (path: string) => statSync(path).mode & 0o777;
    expect([dirname(dirname(socket)), dirname(socket), socket, api].map(modeOf)).toEqual([
      0o700, 0o700, 0o600, 0o600,
    ]);
  });

  it.each([
    ['the directory of the agent', (socket: string) => dirname(socket)],
    ['the one above it', (socket: string) => dirname(dirname(socket))],
  ])('is looked at before anything is sent: %s', async (_, which) => {
    const directory = which((await statusOf(place)).socket);
    chmodSync(directory, 0o755);
    const { exitCode, stderr } = await place.run('transit keys list');
    expect(exitCode).toBe(LOCKED);
    expect(stderr).toContain('it is open to other users');
    expect(await owner.refused('unlock', 1)).toContain('is open to other users');
    chmodSync(directory, 0o700);
    await place.ok('transit keys list');
  });
});

describe('what keeps others out of its place', () => {
  freshStores(use);

  it('is no link to somewhere else', async () => {
    await owner.ok('unlock');
    const directory = dirname((await statusOf(place)).socket);
    renameSync(directory, place.file('elsewhere'));
    symlinkSync(place.file('elsewhere'), directory);
    const { exitCode, stderr } = await place.run('transit keys list');
    expect(exitCode).toBe(LOCKED);
    expect(stderr).toContain('it is not a directory');
  });

  it('keeps a passphrase from whatever listens in the place of an agent', async () => {
    await owner.ok('unlock');
    const { socket } = await statusOf(place);
    await place.ok('lock');
    const heard: Buffer[] = [];
    const fake = createServer((peer) =>
      peer.on('data', (chunk: Buffer) => heard.push(chunk) && peer.destroy()),
    );
    fake.listen(socket);
    await once(fake, 'listening');
    const asked = spawn(process.execPath, [binary, 'unlock'], {
      env: place.environment({ COFFER_PASSPHRASE: 'correct horse battery' }),
    });
    await once(asked, 'close');
    fake.close();
    expect(Buffer.concat(heard).toString()).not.toContain('correct horse');
  });
});

/** Whether the memory of processes may be read that are no children of this one. */
const canTraceOthers = ((): boolean => {
  try {
    return readFileSync('/proc/sys/kernel/yama/ptrace_scope', 'utf8').trim() === '0';
  } catch {
    return true;
  }
})();

describe('what opens a store', () => {
  freshStores(use);

  /** Listens in the place of an agent, and answers every call so. @returns all that it has heard. */
  async function inPlaceOfAgent(answer: (method: string) => unknown, work: () => Promise<unknown>) {
    await owner.ok('unlock');
    const { socket } = await statusOf(place);
    await place.ok('lock');
    const heard: string[] = [];
    const fake = createServer((peer) => {
      peer.on('error', () => undefined);
      readFrames(peer, ({ head }) => {
        heard.push(JSON.stringify(head));
        const { call, method } = head as { readonly call: number; readonly method: string };
        if (method === 'lock') return void peer.destroy();
        writeFrame(peer, { head: { answer: call, value: answer(method) }, body: [] });
      });
    });
    fake.listen(socket);
    await once(fake, 'listening');
    chmodSync(socket, 0o600);
    await work();
    fake.close();
    return heard;
  }

  const STATUS = { locked: false, uses: 0, pid: 1, until: '2030-01-01T00:00:00Z' };

  it.each([
    { title: 'that says it waits', prove: null },
    { title: 'that says it has it open', prove: { nonce: 'a', proof: 'b'.repeat(43) } },
    { title: 'that proves nothing', prove: {} },
  ])('is sent to nothing that listens in the place of an agent $title', async ({ prove }) => {
    const { rootKey } = await storeKeys(place.file('store'), { key: Buffer.from(MASTER_KEY, 'base64') });
    const codes: unknown[] = [];
    const heard = await inPlaceOfAgent(
      (method) => (method === 'prove' ? prove : STATUS),
      async () => {
        const asked = spawn(process.execPath, [binary, 'unlock', '--for', '1h'], {
          env: owner.environment(),
          stdio: 'ignore',
        });
        codes.push((await once(asked, 'close'))[0]);
      },
    );
    expect(heard.join()).toContain('prove');
    for (const form of Object.values(formsOf('root key', rootKey))) {
      expect(heard.join().includes(Buffer.from(form).toString('latin1'))).toBe(false);
    }
    expect(heard.join()).not.toContain('handed');
    expect(codes).not.toEqual([0]);
  });

  const IMPOSTOR = `
    const { readFrames, writeFrame } = await import(process.env.FRAMES);
    (await import('node:process')).umask(0o177);
    (await import('node:net')).createServer((peer) =>
      readFrames(peer, ({ head }) => {
        console.log(JSON.stringify(head));
        writeFrame(peer, { head: { answer: head.call, value: head.method === 'prove' ? null : {} }, body: [] });
      }),
    ).listen(process.argv[2], () => console.log('listens'));`;

  it.runIf(hasProcessFiles)(
    'is sent to no program that is called like an agent that waits, whatever its arguments say',
    async () => {
      await owner.ok('unlock');
      const { socket } = await statusOf(place);
      await place.ok('lock');
      const script = place.file('coffer.ts');
      writeFileSync(script, IMPOSTOR);
      const frames = new URL('../../src/service/rpc.ts', import.meta.url).href;
      const impostor = spawn(process.execPath, [script, socket, 'agent', 'run'], {
        env: { ...process.env, FRAMES: frames, NODE_NO_WARNINGS: '1' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let heard = '';
      impostor.stdout.on('data', (chunk: Buffer) => {
        heard += String(chunk);
      });
      try {
        await vi.waitUntil(() => heard.includes('listens'), WITHIN);
        expect(await owner.refused('unlock --for 1h', 1)).toContain(
          'is not an agent of this version of Coffer',
        );
        await vi.waitUntil(() => heard.includes('prove'), WITHIN);
        expect(heard).not.toContain('unlock');
      } finally {
        impostor.kill('SIGKILL');
      }
    },
  );

  it.runIf(canReadMemory && canTraceOthers)(
    'goes into an agent as bytes alone, of which one copy is left',
    async () => {
      await owner.ok('unlock');
      const { rootKey } = await storeKeys(place.file('store'), { key: Buffer.from(MASTER_KEY, 'base64') });
      await owner.ok('unlock --for 1h');
      const needles = formsOf('root key', rootKey);
      const { pid } = await statusOf(place);
      expect(findInMemory(pid, needles)).toEqual({ 'root key': 1 });
    },
  );
});

describe('an agent takes from its peers', () => {
  unlockedStore(use);

  /** Sends bytes to the socket of commands, and waits until it hangs up. */
  const sending = async (bytes: Buffer): Promise<void> => {
    const peer = connect((await statusOf(place)).socket);
    peer.on('error', () => undefined);
    peer.resume();
    const closed = once(peer, 'close');
    peer.write(bytes);
    await closed;
  };
  const frame = (head: string): Buffer => {
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32BE(Buffer.byteLength(head), 0);
    return Buffer.concat([lengths, Buffer.from(head)]);
  };

  it.each([
    ['a frame that says it is 4 GiB long', Buffer.alloc(16, 0xff)],
    ['a frame that is no JSON', frame('{"call":')],
    ['a frame that is no object', frame('[1]')],
  ])('nothing of %s, and hangs up', async (_, bytes) => {
    await sending(bytes);
    await place.ok('transit keys list');
  });

  it.each([
    ['an unknown call', { call: 1, method: 'constructor', argument: null }],
    ['a request without a path', { call: 1, method: 'ask', argument: { method: 'GET' } }],
    [
      'a store that is none',
      { call: 1, method: 'unlock', argument: { handed: {}, idleMs: 1000, forMs: 1000 } },
    ],
    [
      'times that never end',
      { call: 1, method: 'unlock', argument: { handed: {}, idleMs: null, forMs: 1e99 } },
    ],
    [
      'a root key that is another',
      {
        call: 1,
        method: 'unlock',
        argument: {
          handed: { storeId: 'x', slotId: 'x', generation: 1, rootKey: '' },
          idleMs: 1e3,
          forMs: 1e3,
        },
      },
    ],
  ])('an error for %s, and goes on as before', async (_, message) => {
    const before = await statusOf(place);
    await sending(Buffer.concat([frame(JSON.stringify(message)), Buffer.alloc(8, 0xff)]));
    await place.ok('transit keys list');
    expect((await statusOf(place)).until).toBe(before.until);
  });

  it('no store that is opened with a wrong root key', async () => {
    const { id } = (await owner.json('status')) as { id: string };
    const handed = { storeId: id, slotId: 'x', generation: 1, rootKey: base64('k'.repeat(32)) };
    const argument = { handed, idleMs: 1000, forMs: 1000 };
    await sending(
      Buffer.concat([frame(JSON.stringify({ call: 1, method: 'unlock', argument })), Buffer.alloc(8, 0xff)]),
    );
    await place.ok('transit encrypt app hello');
    expect(Date.parse((await statusOf(place)).until)).toBeGreaterThan(Date.now() + 60_000);
  });

  it('no more than it can answer, when they never read', async () => {
    const { socket, pid } = await statusOf(place);
    const peer = connect(socket);
    peer.on('error', () => undefined);
    peer.pause();
    const ask = frame(
      JSON.stringify({
        call: 1,
        method: 'ask',
        argument: {
          method: 'GET',
          target: '/v1/sys/internal/specs/openapi',
          headers: { 'x-vault-token': 'x' },
        },
      }),
    );
    const many = Buffer.concat(Array.from({ length: 5000 }, () => ask));
    peer.write(many);
    await place.ok('transit keys list');
    if (hasProcessFiles) {
      const resident = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
      expect(resident).toBeLessThan(300_000);
    }
    peer.destroy();
  });
});

describe('a secret', () => {
  freshStores(use);

  it.runIf(hasProcessFiles)(
    'is in no argument, variable or file of an agent, and can get into no core dump',
    async () => {
      const passphrase = 'correct horse battery staple';
      await owner.ok('slots add --passphrase', { environment: { COFFER_NEW_PASSPHRASE: passphrase } });
      await place
        .with({ COFFER_PASSPHRASE: passphrase, COFFER_TOKEN: 'coffer-token-of-somebody' })
        .ok('unlock');
      await place.ok('transit encrypt app hello');
      const { pid, socket } = await statusOf(place);
      const canaries = new Canaries({ passphrase, key: MASTER_KEY, token: 'coffer-token-of-somebody' });
      expect(canaries.toldBy(shownOf(pid))).toEqual([]);
      expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/Max core file size\s+0\s+0/);
      const directory = dirname(dirname(socket));
      const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
        .map((name) => join(directory, name))
        .filter((path) => statSync(path).isFile());
      expect(files.map((path) => readFileSync(path, 'latin1')).join('')).toBe('');
    },
  );

  it.runIf(hasProcessFiles)('costs an idle agent no more than 80 MiB', async () => {
    await owner.ok('unlock');
    await place.ok('transit encrypt app hello');
    await place.ok('transit keys list');
    const { pid } = await statusOf(place);
    const resident = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    expect(resident).toBeLessThan(80 * 1024);
  });
});
