import { expect, it } from 'vitest';
import { listedOffers } from '../../../src/cli/agent/offers.ts';
import { answeredSession } from '../answering.ts';
import { DirectoryHere } from '../directory-here.ts';

const offer = { mount: 'transit', key: 'app', uses: ['sign'], confirm: true };

it.each<[unknown, readonly unknown[]]>([
  [undefined, []],
  [{}, []],
  [{ doors: null }, []],
  [{ doors: { ssh: null } }, []],
  [{ doors: { ssh: [null, 'x'] } }, []],
  [{ doors: { ssh: [offer] } }, [{ ...offer, door: 'ssh' }]],
  [{ doors: { ssh: [{ ...offer, uses: 'sign' }] } }, [{ ...offer, door: 'ssh', uses: [] }]],
  [{ doors: { ssh: [{ ...offer, confirm: 'true' }] } }, [{ ...offer, door: 'ssh', confirm: false }]],
  [
    { doors: { ssh: [offer], age: [{ ...offer, uses: [] }] } },
    [
      { ...offer, door: 'ssh' },
      { ...offer, door: 'age', uses: [] },
    ],
  ],
])('the keys that an agent offers are those of its answer %j', async (data, offers) => {
  const { session } = answeredSession(() => data);
  expect(await listedOffers(await session.runner())).toEqual(offers);
});

it('an offer says on a terminal how its programs find the agent, if they need variables for that', async () => {
  const here = await DirectoryHere.withStore();
  await here.ok('transit keys create app');
  await here.ok('transit keys create inbox --type x25519');
  const said = async (line: string) => (await here.run(line, { terminals: ['err'] })).err;
  expect(await said('agent offer app --sops')).toContain(`Run 'eval "$(coffer agent env --sops)"' so that`);
  expect((await said('agent offer inbox --age')).trim()).toBe('Offered inbox to age.');
});

it('variables of an agent for a server that none serves are said to be missing, with the command for one', async () => {
  const here = DirectoryHere.make({ COFFER_ADDR: 'http://127.0.0.1:1' });
  const { exitCode, out, err } = await here.run('agent env', { terminals: ['err'] });
  expect([exitCode, out]).toEqual([0, '']);
  expect(err).toContain('No agent offers keys of this server. Run "coffer agent run --ssh NAME"');
});
