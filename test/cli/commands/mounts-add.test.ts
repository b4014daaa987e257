import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { runCommandLine } from '../../../src/cli/command-line.ts';
import { streamsDouble } from '../streams.double.ts';

it('mounts add says which engine it wants, because servers of the family mount nothing else', async () => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const environment = { COFFER_ADDR: `http://127.0.0.1:${port}`, COFFER_TOKEN: 'any' };
  const add = ['mounts', 'add', 'payments', '--description', 'of the shop'];
  await runCommandLine(add, streamsDouble(), environment);
  expect(bodies.map((body) => JSON.parse(body))).toEqual([{ type: 'transit', description: 'of the shop' }]);
});
