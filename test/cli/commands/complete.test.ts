import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runCommandLine } from '../../../src/cli/command-line.ts';
import { streamsDouble } from '../streams.double.ts';

/** What completion offers where a server has keys of these names. */
async function offered(keys: readonly string[]): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: { keys } }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const streams = streamsDouble();
  const { port } = server.address() as AddressInfo;
  const environment = { COFFER_ADDR: `http://127.0.0.1:${port}`, COFFER_TOKEN: 'any' };
  await runCommandLine(['complete', 'key', '--', 'coffer', 'transit', 'encrypt', ''], streams, environment);
  return streams.written.out;
}

it('completion offers no name that would do something to the terminal: not all shells make such names visible', async () => {
  const strange = ['\u001b[2J', 'a\u009b31m', 'b\u202e', 'c\u061c', 'two\nlines', 'with\ttab'];
  expect(await offered(['orders', ...strange, 'prés'])).toBe('orders\nprés\n');
});
