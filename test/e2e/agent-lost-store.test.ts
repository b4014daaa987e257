import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEY, leave, placeForAgents } from './agent-target.ts';
import type { Place } from './harness.ts';

const passphrase = { COFFER_NEW_PASSPHRASE: 'correct horse battery' };

let place: Place;
let owner: Place;
beforeEach(async () => {
  place = placeForAgents();
  owner = place.with(KEY);
  await owner.ok('init');
  await owner.ok('transit keys create app');
  const { id } = (await owner.json('slots add --passphrase', { environment: passphrase })) as { id: string };
  await place.with({ COFFER_PASSPHRASE: 'correct horse battery' }).ok('unlock');
  await owner.ok(`slots remove ${id} --yes`);
});
afterEach(() => leave(place));

describe('an agent whose slot was removed', () => {
  it('is no longer shown by status, which shows a locked store', async () => {
    const { exitCode, stdout, stderr } = await place.run('status');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^state\tlocked$/m);
    expect(stdout).not.toMatch(/^agent\t/m);
  });

  it.each([
    'status',
    'status -o json',
    'agent list',
    'transit keys list',
    'transit encrypt app x',
    'complete key',
    'doctor',
  ])('is never called a server to unseal: %s', async (line) => {
    const { stdout, stderr } = await place.run(line);
    expect(stdout + stderr).not.toMatch(/server|unseal/);
  });
});
