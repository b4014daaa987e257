import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Command, isGroup, type Node } from '../../src/cli/command.ts';
import { everywhereOptions } from '../../src/cli/parse/everywhere.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from '../e2e/harness.ts';
import { send } from '../servers/serving.ts';
import { childrenOf, hasProcessFiles, listeningSocketsOf, shownOf } from './processes.ts';
import { watchServer } from './watching.ts';

/** Everything secret that may stand in the environment. The store opens with the master key; the rest is there to be leaked. */
const SECRETS = {
  COFFER_MASTER_KEY: MASTER_KEY,
  COFFER_PASSPHRASE: 'correct horse battery staple',
  COFFER_NEW_PASSPHRASE: 'Tr0ub4dor and 3',
  COFFER_TOKEN: 'cfr.a-token-of-the-environment',
  PGPASSWORD: 'password-of-a-database',
};

async function storeWithSecrets(): Promise<Place> {
  const place = emptyPlace(SECRETS);
  onTestFinished(() => removePlace(place));
  await place.ok('init');
  await place.ok('transit keys create orders');
  return place;
}

/** Which of the secrets a text holds. */
const toldBy = (text: string): readonly string[] =>
  Object.entries(SECRETS).flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));

describe.skipIf(!hasProcessFiles)('what the list of processes shows of a server', () => {
  it('is no secret of its environment, in any of its processes', async () => {
    const place = await storeWithSecrets();
    const { processes } = await busyServer(place);
    for (const process of processes) {
      const shown = shownOf(process);
      expect(shown).toContain(`COFFER_STORE=${place.file('store')}`);
      expect(toldBy(shown)).toEqual([]);
    }
  });
});

describe.skipIf(!hasProcessFiles)('the signal by which Node opens a debugger', () => {
  it('does nothing to any process of a server', async () => {
    const { address, token, processes } = await busyServer(await storeWithSecrets());
    for (const each of processes) {
      const before = listeningSocketsOf(each);
      process.kill(each, 'SIGUSR1');
      await bareNodeOpensDebugger();
      expect(listeningSocketsOf(each)).toEqual(before);
    }
    await takeLargeRequest(address, token);
  });

  it('does nothing to a command that waits for its input', async () => {
    const place = await storeWithSecrets();
    const child = spawn(process.execPath, [binary, 'transit', 'encrypt', 'orders', '--batch', '-'], {
      env: place.environment(),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.write('{"plaintext":"aGk="}\n');
    await once(child.stdout, 'data');
    child.kill('SIGUSR1');
    await bareNodeOpensDebugger();
    expect(listeningSocketsOf(child.pid ?? 0)).toEqual([]);
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

/** Node opens the port from a thread of its own: once another process has done so, after its own signal, the time was enough. */
async function bareNodeOpensDebugger(): Promise<void> {
  const script = 'setInterval(() => {}, 1e9); process.stdout.write(".")';
  const child = spawn(process.execPath, ['--inspect-port=127.0.0.1:0', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    await once(child.stdout, 'data');
    child.kill('SIGUSR1');
    const [said] = await once(child.stderr, 'data');
    expect(String(said)).toContain('Debugger listening');
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

/** A server with every kind of process that it can have. */
async function busyServer(place: Place) {
  const token = await place.with({ COFFER_TOKEN: undefined }).ok('token create --policy root');
  const { pid, address } = await watchServer(place, 'serve --listen 127.0.0.1:0 --workers 2 -q');
  await takeLargeRequest(address, token);
  const workers = childrenOf(pid);
  const batchProcesses = workers.flatMap(childrenOf);
  expect([workers.length, batchProcesses.length]).toEqual([2, 1]);
  return { address, token, processes: [pid, ...workers, ...batchProcesses] };
}

/** Of a size for which a worker starts a process. */
async function takeLargeRequest(address: string, token: string): Promise<void> {
  const batch_input = Array.from({ length: 2000 }, () => ({
    plaintext: Buffer.alloc(40).toString('base64'),
  }));
  const reply = await send(address, 'POST', '/v1/transit/encrypt/orders', { token, body: { batch_input } });
  expect(reply.status).toBe(200);
}

describe('a command that prints the master key', () => {
  it('gets no other secret of ours, neither in its environment nor on its command line', async () => {
    const place = await storeWithSecrets();
    const command = `env > seen; tr '\\0' ' ' < /proc/$$/cmdline >> seen 2> /dev/null; echo ${MASTER_KEY}`;
    const asking = place.spawned.with({ COFFER_MASTER_KEY: undefined, COFFER_MASTER_KEY_COMMAND: command });
    expect(await asking.ok('transit keys list')).toBe('orders');
    const seen = readFileSync(place.file('seen'), 'utf8');
    expect(seen).toContain(`COFFER_STORE=${place.file('store')}`);
    // It prints the key itself, so it may know it; the password of a database is the caller's, as the rest of the environment.
    expect(toldBy(seen).filter((name) => name !== 'COFFER_MASTER_KEY')).toEqual(['PGPASSWORD']);
  });
});

describe('the command line', () => {
  it('takes no secret as the value of a flag but a token, for which there are other ways', async () => {
    const flags = await valueFlags();
    const secret = flags.filter(({ flag, metavar }) => SECRET.test(flag) && !PLACE.test(metavar));
    expect(secret.map(({ flag }) => flag)).toEqual(['token']);
    expect(flags.map(({ flag }) => flag)).toContain('token-file');
  });
});

const SECRET = /pass|secret|master|token|private|shares?$/;
/** What flags take that name a place, a number, a time, a policy or a command instead. */
const PLACE = /^(?:FILE|PATH|DIR|COMMAND|N|T|D|P|ID|CIDR|TYPE)$/;

async function valueFlags(): Promise<readonly { readonly flag: string; readonly metavar: string }[]> {
  const commands = await commandsBelow(commandTree);
  const options = [...everywhereOptions, ...commands.flatMap((command) => command.options)];
  return options
    .filter(({ takes }) => takes !== 'nothing')
    .map(({ flag, metavar = '' }) => ({ flag, metavar }));
}

async function commandsBelow(node: Node): Promise<readonly Command[]> {
  if (!isGroup(node)) return [await node.load()];
  return (await Promise.all(Object.values(node.children).map(commandsBelow))).flat();
}
