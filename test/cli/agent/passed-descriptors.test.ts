import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nameOfSocket, passedDescriptors } from '../../../src/cli/agent/passed-descriptors.ts';

const KNOWN = ['agent', 'api', 'ssh'];
const passed = (count: string, names: string, pid = 7): Record<string, number> => {
  const environment = { LISTEN_FDS: count, LISTEN_PID: String(pid), LISTEN_FDNAMES: names, HOME: '/' };
  const found = passedDescriptors(environment, KNOWN, 7);
  expect(environment).toEqual({ HOME: '/' });
  return Object.fromEntries(found);
};

it.each([
  ['are told by their names, in any order', '2', 'ssh:agent', { ssh: 3, agent: 4 }],
  [
    'are told by their order where the names are those of the unit',
    '2',
    'x.socket:x.socket',
    { agent: 3, api: 4 },
  ],
  ['are told by their order where one has another name', '2', 'ssh:other', { agent: 3, api: 4 }],
  ['are no more than are known', '9', '', { agent: 3, api: 4, ssh: 5 }],
  ['are none where there is no number', 'x', '', {}],
])('sockets that were passed %s', (_, count, names, found) => {
  expect(passed(count, names)).toEqual(found);
});

it('takes no sockets that were made for another process', () => {
  expect(passed('2', 'agent:api', 8)).toEqual({});
});

it.runIf(process.platform === 'linux')('knows a socket by the file that it listens on', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'coffer passed-'));
  const server: Server & { readonly _handle?: { readonly fd: number } } = createServer();
  try {
    server.listen(join(directory, 'ssh.sock'));
    await once(server, 'listening');
    expect(nameOfSocket(server._handle?.fd ?? -1)).toBe('ssh');
    expect(nameOfSocket(0)).not.toBe('ssh');
  } finally {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
