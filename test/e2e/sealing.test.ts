import { afterAll, beforeAll, expect, it } from 'vitest';
import { MASTER_KEY, type Place } from './harness.ts';
import { server } from './server.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

/** A server that commands seal, look at and unseal. */
let running: Awaited<ReturnType<typeof server.start>>;
let here: Place;
beforeAll(async () => {
  running = await server.start();
  here = running.place;
});
afterAll(() => running.stop());

it('is sealed after a yes, tells so by its health, and is unsealed with the key from standard input', async () => {
  expect(await here.json('health')).toMatchObject({ sealed: false });
  expect(await here.refused('seal', 2)).toContain('use --yes');
  expect(JSON.parse(await here.ok('seal --yes -o json'))).toEqual({ sealed: true });
  const sealed = await here.run('health -o json');
  expect(sealed.exitCode).toBe(4);
  expect(JSON.parse(sealed.stdout)).toMatchObject({ sealed: true });
  expect(await here.refused('transit keys list', 4)).toContain('unseal it with "coffer unseal"');
  expect((await here.run('unseal', { input: 'nonsense' })).exitCode).not.toBe(0);
  expect(await here.run('unseal', { input: `${MASTER_KEY}\n` })).toMatchObject({
    exitCode: 0,
    stderr: 'The server is unsealed.\n',
  });
  await here.ok('transit keys list');
});

it.skipIf(!canUseTerminals)('asks for the key on a terminal, and never shows it', async () => {
  await here.ok('seal --yes');
  const { text, exitCode } = onTerminal(here, 'coffer unseal', {
    steps: [['Key, passphrase or recovery share', `${MASTER_KEY}\r`]],
  });
  expect(exitCode).toBe(0);
  expect(text).toContain('The server is unsealed.');
  expect(text).not.toContain(MASTER_KEY);
});

it('is a server: a store alone has no seal', async () => {
  const alone = here.with({ COFFER_ADDR: undefined });
  for (const line of ['seal --yes', 'unseal', 'health']) {
    expect(await alone.refused(line, 2)).toContain('use --address or set COFFER_ADDR');
  }
});

it('does not answer: health says so with exit code 1', async () => {
  expect((await here.run('health --address http://127.0.0.1:1')).exitCode).toBe(1);
});
