import { expect, it } from 'vitest';
import { remoteDesk } from '../../../src/doors/agent/remote-desk.ts';
import { ssh } from '../../../src/doors/agent/ssh/ssh.ts';
import { denied } from '../../../src/ground/errors.ts';
import type { Runner } from '../../../src/operations/declaration/operation.ts';

it('tells of what a server refuses once, until it allows it again', async () => {
  const said: string[] = [];
  let isAllowed = false;
  const run = async () => {
    if (isAllowed) return {};
    throw denied('permission denied', { hint: 'log in again' });
  };
  const runner = { run } as unknown as Runner;
  const offers = ['laptop', 'other'].map((key) => ({
    mount: 'transit',
    key,
    uses: ['login'],
    confirm: false,
  }));
  const desk = remoteDesk(ssh, offers, runner, {
    ask: undefined,
    defect: () => undefined,
    refused: ({ hint }, what) => void said.push(`${what}: ${hint}`),
  });
  const read = (name: string) => desk.run('transit keys read', { name }, 'transit').catch(() => undefined);
  for (const name of ['laptop', 'laptop', 'other', 'nobody', 'laptop']) await read(name);
  expect(said).toEqual([
    'transit keys read transit/laptop: log in again',
    'transit keys read transit/other: log in again',
  ]);
  isAllowed = true;
  await read('laptop');
  isAllowed = false;
  await read('laptop');
  await read('other');
  expect(said).toHaveLength(3);
});
