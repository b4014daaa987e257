import { expect, it } from 'vitest';
import { callUnlessThere } from '../../src/cli/if-missing.ts';
import { Session } from '../../src/cli/session.ts';
import { denied, exists } from '../../src/ground/errors.ts';
import { loadOperation } from '../../src/operations/runner.ts';
import { DirectoryHere } from './directory-here.ts';
import { promptsDouble, streamsDouble } from './streams.double.ts';

/** Creates tags of which some exist, and some may not be created. */
async function creating(names: readonly string[]) {
  const streams = streamsDouble();
  const session = new Session(streams, { HOME: '/' }, new Map(), promptsDouble(), () =>
    Promise.reject(new Error('nothing is run')),
  );
  const operation = await loadOperation('tags create');
  const [param = ''] =
    Object.entries(operation.params).find(([, { cli }]) => cli.positional === 'variadic') ?? [];
  const outcome = callUnlessThere(session, operation, { [param]: names }, async ({ [param]: some }) => {
    if (`${some}`.includes('old')) throw exists('the tag exists');
    throw denied('not allowed');
  });
  return { outcome, streams };
}

it('an object that exists is no error', async () => {
  const { outcome, streams } = await creating(['old']);
  expect(await outcome).toBeUndefined();
  expect(streams.written.err).toBe('the tag exists.\n');
});

it.each([[['new']], [['old', 'new']], [['new', 'old']]])(
  'what may not be created is an error, also beside what exists: %j',
  async (names) => {
    const { outcome } = await creating(names);
    await expect(outcome).rejects.toMatchObject({ kind: 'denied', message: 'not allowed' });
  },
);

it('a key to import that exists is left unchanged, and no other way to import it is named', async () => {
  const here = await DirectoryHere.withStore();
  const line = 'transit import mine --in key --if-missing';
  here.write('key', `${Buffer.alloc(32, 7).toString('base64')}\n`);
  await here.ok(line);
  const { exitCode, err } = await here.run(line);
  expect({ exitCode, err }).toEqual({
    exitCode: 0,
    err: 'Key mine already exists; it was left unchanged.\n',
  });
});
