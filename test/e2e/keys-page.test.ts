import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanUpAfterAll, issueToken, send, setPolicy, startServer } from '../servers/serving.ts';
import { local } from './harness.ts';

/** Follows docs/keys.md: its commands, one after the other, on a store of their own, and its policy on a server. */

const page = readFileSync(fileURLToPath(new URL('../../docs/keys.md', import.meta.url)), 'utf8');
const commands = [...page.matchAll(/<!-- tested -->\n```sh\n([\s\S]*?)```/g)].flatMap(([, text = '']) =>
  text
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').replace(/^coffer /, ''))
    .filter((line) => line !== ''),
);
const rules = /```hcl\n([\s\S]*?)```/.exec(page)?.[1]?.trim().split('\n') ?? [];

let at: Awaited<ReturnType<typeof local.start>>;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  at = await local.start();
});
afterAll(() => at.stop());

it('the page about keys says commands that do what it says', async () => {
  const { place } = at;
  for (const command of commands) await place.ok(command);
  expect(await place.json('transit keys read orders')).toMatchObject({
    keep_versions: 2,
    auto_trim: true,
    destroyed_versions: [4],
    latest_version: 5,
    organization: 'acme',
    tags: ['env:production'],
  });
  await place.ok('transit keys rotate archive');
  expect(await place.refused('transit keys destroy archive 1', 2)).toContain('--yes');
});

it('the help of the list of keys has a line that prints as JSON what the table shows', async () => {
  const { place } = at;
  const example = /^ *(for key in .*)$/m.exec(await place.ok('transit keys list --help'))?.[1] ?? '';
  const { exitCode, stdout } = await place.shell(example);
  expect(exitCode).toBe(0);
  const keys: unknown[] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { keys: names } = (await place.json('transit keys list')) as { readonly keys: readonly string[] };
  expect(keys).toEqual(
    names.map((name) =>
      expect.objectContaining({
        name,
        type: expect.any(String),
        latest_version: expect.any(Number),
        keys: expect.any(Object),
      }),
    ),
  );
});

it('the page about keys has a policy that lets somebody reencrypt, and of which each line is needed', async () => {
  const server = await startServer({}, afterwards);
  const ask = (path: string, body: object, token = server.token) =>
    send(server.address, 'POST', `/v1/transit/${path}`, { body, headers: { 'x-service-token': token } });
  await ask('keys/archive', {});
  const { ciphertext } = (await ask('encrypt/orders', { plaintext: 'eA==' })).json.data;
  expect(rules).toHaveLength(3);
  const statuses: number[] = [];
  for (const without of [-1, 0, 1, 2]) {
    const text = rules.filter((_, index) => index !== without).join('\n');
    await setPolicy(server.directory, `mover${without}`, text);
    const token = await issueToken(server.directory, { policies: [`mover${without}`] });
    statuses.push((await ask('reencrypt/orders/archive', { ciphertext }, token)).status);
  }
  expect(statuses).toEqual([200, 403, 403, 403]);
});
