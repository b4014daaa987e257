import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startServerProcess } from '../servers/server-process.ts';
import { binary, emptyPlace, MASTER_KEY } from './harness.ts';

/** Prints what systemd would be told, a line each; Node has no such socket. */
const LISTENER = `
import array, os, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
if os.path.exists(sys.argv[1]): os.unlink(sys.argv[1])
listener.bind(sys.argv[1])
print('listening', flush=True)
while True:
    text, sent, _, _ = listener.recvmsg(4096, 1024)
    for _, _, data in sent:
        for descriptor in array.array('i', data): os.close(descriptor)
    print(text.decode(), flush=True)
`;

const has = (program: string): boolean => spawnSync('which', [program]).status === 0;
const place = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY });
let manager: ChildProcess | undefined;

/** @returns what it has been told so far. */
async function listen(): Promise<() => readonly string[]> {
  let heard = '';
  manager = spawn('python3', ['-c', LISTENER, place.file('notify')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  manager.stdout?.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
  });
  await vi.waitUntil(() => heard.includes('listening\n'), 20_000);
  return () => heard.split('\n').slice(1);
}

const serve = (variables: Readonly<Record<string, string>>) =>
  startServerProcess([binary, 'serve', '--listen', '127.0.0.1:0'], {
    directory: place.directory,
    environment: { ...place.environment(), ...variables },
  });

afterEach(() => manager?.kill());

describe.skipIf(!has('systemd-notify') || !has('python3'))('coffer serve under systemd', () => {
  it('says when it listens, that it lives, and that it ends', async () => {
    await place.ok('init');
    const told = await listen();
    const server = await serve({ NOTIFY_SOCKET: place.file('notify'), WATCHDOG_USEC: '400000' });
    const beats = () => told().filter((state) => state === 'WATCHDOG=1').length;
    await vi.waitUntil(() => beats() > 2, 20_000);
    expect(told()[0]).toBe('READY=1');
    await server.stop();
    await vi.waitUntil(() => told().includes('STOPPING=1'), 20_000);
  });

  it('says no more than that it listens where no watchdog is meant for it, and serves where nobody hears it', async () => {
    const told = await listen();
    const served = await serve({
      NOTIFY_SOCKET: place.file('notify'),
      WATCHDOG_USEC: '1000',
      WATCHDOG_PID: '1',
    });
    await vi.waitUntil(() => told().includes('READY=1'), 20_000);
    await served.stop();
    expect(told().filter((state) => state.startsWith('WATCHDOG'))).toEqual([]);
    const unheard = await serve({ NOTIFY_SOCKET: place.file('nobody') });
    await place.with({ COFFER_ADDR: unheard.address, COFFER_STORE: undefined }).ok('health');
    await unheard.stop();
  });
});
