import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { canUseTerminals, hurried, onTerminal } from './terminal.ts';

/** A server, whoever is at its store beside it, and more tags than one call takes. */

const TAGS = 2_050;

let place: Place;
let running: ServerProcess;
let token = '';

/** Passes requests on to the server; somebody else comes first with what is done in `beforeDeletion`. */
let beforeDeletion = async (): Promise<void> => {};
const forwarder = createServer(async (request, response) => {
  const { method = 'GET', url = '', headers } = request;
  const body = await buffer(request);
  if (method === 'DELETE') await beforeDeletion();
  const answer = await fetch(new URL(url, running.address), {
    method,
    headers: {
      authorization: headers.authorization ?? '',
      'x-vault-token': String(headers['x-vault-token'] ?? ''),
      'content-type': headers['content-type'] ?? 'application/json',
    },
    body: body.length === 0 ? null : body,
  });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
  response.end(Buffer.from(await answer.arrayBuffer()));
});

beforeAll(async () => {
  place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY, COFFER_ORG: 'acme' });
  await place.ok('init');
  await place.ok('orgs create acme');
  await place.ok('workspaces create web');
  token = await place.ok('token create --policy root');
  running = await startServerProcess([binary, 'serve', '--listen', '127.0.0.1:0', '-q'], {
    directory: place.directory,
    environment: place.environment(),
  });
  forwarder.listen(0, '127.0.0.1');
  await once(forwarder, 'listening');
});

afterAll(async () => {
  forwarder.close();
  await running?.stop();
  removePlace(place);
});

const remote = (...words: readonly string[]) =>
  promisify(execFile)(process.execPath, [binary, ...words], {
    env: place.environment({
      COFFER_STORE: undefined,
      COFFER_MASTER_KEY: undefined,
      COFFER_ADDR: `http://127.0.0.1:${(forwarder.address() as AddressInfo).port}`,
      COFFER_TOKEN: token,
    }),
  });

it('pruning leaves a tag that a workspace gets after it was looked up', async () => {
  await place.ok('tags create stays goes');
  beforeDeletion = async () => void (await place.ok('workspaces tag web stays'));
  const { stdout, stderr } = await remote('tags', 'prune', '--unused', '--yes', '-o', 'json');
  beforeDeletion = async () => {};
  expect(JSON.parse(stdout)).toEqual({ tags: ['goes'], done: true });
  expect(stderr).toBe('Deleted 1 tag. 1 tag skipped, now in use.\n');
  expect(await place.ok('tags list')).toBe('stays');
  expect(await place.ok('tags of web')).toBe('stays');
  await place.ok('tags delete stays --yes');
});

const names = Array.from({ length: TAGS }, (_, index) => `t${String(index).padStart(4, '0')}`);

it('more tags than one call takes are deleted by one command, here and on a server', async () => {
  writeFileSync(place.file('many.csv'), `workspace,tag\n${names.map((name) => `,${name}\n`).join('')}`);
  await place.ok('tags import many.csv');
  expect((await place.run(['tags', 'delete', ...names])).exitCode).toBe(2);
  const refused = await place.run(['tags', 'delete', ...names, 'nobody', '--yes']);
  expect(refused).toMatchObject({ exitCode: 3, stdout: '' });
  expect(refused.stderr).toContain('tag "nobody" not found');
  expect((await place.ok('tags list --all')).split('\n')).toHaveLength(TAGS);
  expect((await remote('tags', 'delete', ...names.slice(1), 'T0001', '--yes', '-o', 'json')).stdout).toBe(
    '{}\n',
  );
  expect(await place.ok('tags list --all')).toBe(names[0]);
  await place.ok('tags delete t0000 --yes');
});

it.skipIf(!canUseTerminals)('deleting them shows how far it is, and says what was done', async () => {
  await place.ok('tags import many.csv');
  const { screen, text, exitCode } = onTerminal(place, 'coffer tags delete t{0000..2049}', {
    steps: [[`Delete ${TAGS} tags, used 0 times by workspaces?`, 'y\r']],
    environment: hurried,
  });
  expect(exitCode).toBe(0);
  expect(screen).toMatch(/\[[#-]+\] +\d+ % [\d,]+ tags/);
  expect(text).toContain('Deleted 2050 tags.');
  expect(await place.ok('tags list')).toBe('');
});
