import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  isGone,
  isLocked,
  KEY,
  kill,
  LOCKED,
  leave,
  over,
  placeForAgents,
  statusOf,
  WITHIN,
} from './agent-target.ts';
import { binary, type Place } from './harness.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

const SOCKETS = ['agent', 'api', 'ssh', 'pkcs11', 'age', 'sops'];
const PASSPHRASE = 'correct horse battery staple';

let place: Place;
let running: ChildProcess | undefined;

beforeEach(() => {
  place = placeForAgents();
});

afterEach(async () => {
  if (running?.pid !== undefined && running.exitCode === null && running.signalCode === null) {
    const gone = once(running, 'close');
    running.kill('SIGKILL');
    await gone;
  }
  running = undefined;
  leave(place);
});

describe.runIf(canUseTerminals)('on a terminal', () => {
  const withPassphrase = async (): Promise<void> =>
    void (await place.ok('init', { environment: { COFFER_PASSPHRASE: PASSPHRASE } }));

  it('the first command that asks offers to ask no more, and does not ask any more', async () => {
    await withPassphrase();
    const { text, exitCode } = onTerminal(
      place,
      'coffer transit keys create app && coffer transit encrypt app hello > one && coffer transit keys list',
      {
        steps: [
          ['Passphrase', `${PASSPHRASE}\n`],
          ['Keep the store unlocked until it has been idle for 15 minutes\\?', 'y\n'],
        ],
      },
    );
    expect(exitCode).toBe(0);
    expect(text).toContain('Unlocked until idle for 15 minutes, at most until ');
    expect(await isLocked(place)).toBe(false);
  });

  it('Enter means no, and a no holds for the session', async () => {
    await withPassphrase();
    const { text, exitCode } = onTerminal(place, 'coffer transit keys list; coffer transit keys create app', {
      steps: [
        ['Passphrase', 'wrong\n'],
        ['again', `${PASSPHRASE}\n`],
        ['Keep the store unlocked', '\n'],
        ['Passphrase', `${PASSPHRASE}\n`],
      ],
    });
    expect(exitCode).toBe(0);
    expect(text.indexOf('again')).toBeLessThan(text.indexOf('Keep the store unlocked'));
    expect(await isLocked(place)).toBe(true);
  });

  it('nothing is offered to whoever has set a variable that is to unlock the store', async () => {
    await withPassphrase();
    const { exitCode, text } = onTerminal(place, 'coffer transit keys list', {
      steps: [['Passphrase', `${PASSPHRASE}\n`]],
      environment: { COFFER_PASSPHRASE: 'wrong' },
    });
    expect(exitCode).toBe(0);
    expect(text).not.toContain('Keep the store unlocked');
  });

  it('what outlives an agent says why it asks, and offers nothing', async () => {
    await withPassphrase();
    const owner = place.with({ COFFER_PASSPHRASE: PASSPHRASE });
    await owner.ok('unlock');
    const { text, exitCode } = onTerminal(place, 'coffer token create', {
      steps: [['Passphrase', `${PASSPHRASE}\n`]],
    });
    expect(exitCode).toBe(0);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'The store is unlocked, but its secret is needed again, because what this command prints or allows can be used even while the store is locked.',
    );
    expect(text).not.toContain('Keep the store unlocked');
  });

  it('an agent outlives the terminal on which it was started', async () => {
    await withPassphrase();
    onTerminal(place, 'coffer unlock', { steps: [['Passphrase', `${PASSPHRASE}\n`]] });
    expect(await isLocked(place)).toBe(false);
  });
});

describe('an agent in the foreground', () => {
  const start = (
    command: readonly string[],
    environment: NodeJS.ProcessEnv,
    sockets = 2,
  ): Promise<string[]> => {
    const [program = '', ...words] = command;
    const child = spawn(program, words, { env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
    running = child;
    return new Promise((resolve, reject) => {
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.split('\n').length > sockets) resolve(said.trim().split('\n'));
      });
      child.once('close', () => reject(new Error(`it ended: ${said}`)));
    });
  };

  it('opens with what the environment has, which does not stay there', async () => {
    await place.with(KEY).ok('init');
    const addresses = await start(
      [process.execPath, binary, 'agent', 'run', '--idle', '1h'],
      place.with(KEY).environment(),
      SOCKETS.length,
    );
    const { socket, pid } = await statusOf(place);
    expect(addresses).toEqual(SOCKETS.map((name) => `unix:${dirname(socket)}/${name}.sock`));
    expect(pid).toBe(running?.pid);
    await place.ok('transit keys create app');
    if (process.platform === 'linux')
      expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).not.toContain(KEY.COFFER_MASTER_KEY);
    expect(await place.with(KEY).refused('agent run', 1)).toContain(
      'an agent of this store is already running',
    );
  });

  it('waits locked without a secret, refuses at once, and is opened by "unlock"', async () => {
    await place.with(KEY).ok('init');
    await start([process.execPath, binary, 'agent', 'run'], place.environment());
    const { api, pid, locked } = await statusOf(place);
    expect(locked).toBe(true);
    expect((await over(api, 'POST', '/v1/transit/encrypt/app', { plaintext: '' })).status).toBe(503);
    expect(await place.refused('transit keys list', LOCKED)).toContain('the store is locked');
    const trail = place.file('audit.log');
    const already = 'the agent of this store is already running; its audit log cannot be changed';
    expect(await place.with(KEY).refused(`unlock --audit-log ${trail}`, 1)).toContain(already);
    expect([existsSync(trail), (await statusOf(place)).locked]).toEqual([false, true]);
    await place.with(KEY).ok('unlock');
    expect(await statusOf(place)).toMatchObject({ locked: false, pid });
    expect(await place.refused(`unlock --audit-log ${trail}`, 1)).toContain(already);
    await place.ok('transit encrypt app hello');
  });

  it.runIf(canUseTerminals)(
    'takes the sockets that a service manager has made, and leaves them there',
    async () => {
      await place.with(KEY).ok('init');
      const { socket, api } = await statusOf(place);
      mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
      const manager = [
        'import os, socket, sys',
        'def listen(path, descriptor):',
        '    made = socket.socket(socket.AF_UNIX)',
        '    os.umask(0o177)',
        '    made.bind(path)',
        '    made.listen(9)',
        '    os.dup2(made.fileno(), descriptor)',
        '    return made',
        'kept = [listen(sys.argv[2], 13), listen(sys.argv[1], 14)]',
        'os.dup2(13, 3); os.dup2(14, 4)',
        'os.environ.update(LISTEN_FDS="2", LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES="x.socket:x.socket")',
        'os.execv(sys.argv[3], sys.argv[3:])',
      ].join('\n');
      await start(
        ['python3', '-c', manager, socket, api, process.execPath, binary, 'agent', 'run'],
        place.environment(),
      );
      const inode = statSync(socket).ino;
      await place.with(KEY).ok('unlock');
      expect((await statusOf(place)).pid).toBe(running?.pid);
      await place.ok('transit encrypt app hello');
      expect((await over(api, 'GET', '/v1/transit/keys/app')).status).toBe(200);
      const gone = once(running as ChildProcess, 'close');
      await place.ok('lock');
      await gone;
      expect(statSync(socket).ino).toBe(inode);
    },
  );

  it.runIf(canUseTerminals)('takes no sockets that were made for another process', async () => {
    await place.with(KEY).ok('init');
    await start([process.execPath, binary, 'agent', 'run'], {
      ...place.environment(),
      LISTEN_FDS: '2',
      LISTEN_PID: '1',
    });
    expect(existsSync((await statusOf(place)).socket)).toBe(true);
  });
});

describe('an agent that "unlock" starts', () => {
  it('is of the store that was unlocked, whatever server variables name', async () => {
    const server = { VAULT_ADDR: 'http://127.0.0.1:1' };
    const owner = place.with({ ...KEY, ...server });
    await owner.ok('init');
    await owner.ok('unlock');
    await place.with(server).ok('transit keys create app');
    await owner.ok('lock');
    const store = place.file('store');
    const named = owner.with({ COFFER_STORE: undefined, COFFER_ADDR: 'http://127.0.0.1:1' });
    await named.ok(['unlock', '--store', store]);
    expect(await isLocked(place)).toBe(false);
    await place.ok(['transit', 'encrypt', 'app', 'hello', '--store', store]);
  });
});

describe('a store that went back', () => {
  it('is refused by its agent, until its owner accepts it', async () => {
    const owner = place.with(KEY);
    await owner.ok('init');
    await owner.ok('transit keys create before');
    cpSync(place.file('store'), place.file('older'), { recursive: true });
    await owner.ok('unlock');
    await place.ok('transit keys create after');
    const { pid } = await statusOf(place);
    rmSync(place.file('store'), { recursive: true });
    cpSync(place.file('older'), place.file('store'), { recursive: true });
    expect(await place.refused('transit keys list', 1)).toContain('was rolled back');
    await owner.ok('store accept --yes');
    expect(await place.ok('transit keys list')).toBe('before');
    expect((await statusOf(place)).pid).toBe(pid);
  });
});

describe('what a killed agent left', () => {
  it('is cleared away by whatever comes next', async () => {
    const owner = place.with(KEY);
    await owner.ok('init');
    await owner.ok('unlock');
    const { pid, socket, api } = await statusOf(place);
    kill(pid, 'SIGKILL');
    await vi.waitUntil(() => isGone(pid), WITHIN);
    await place.run('transit keys list');
    expect([existsSync(socket), existsSync(api)]).toEqual([false, false]);
  });
});
