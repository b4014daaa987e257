import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JudgedFacts } from '../../src/cli/team/memory.ts';
import { systemClock } from '../../src/ground/clock.ts';
import { Forger } from './team-forging.ts';
import { fact, type Person, pull, push, team } from './team-people.ts';

/** Files are changed long ago: what was changed a moment ago is judged again. */
beforeEach(() => {
  const now = systemClock.now.bind(systemClock);
  vi.spyOn(systemClock, 'now').mockImplementation(() => now() + 60_000);
});
afterEach(() => vi.restoreAllMocks());

/** A keyring that is large enough to be kept. */
async function largeTeam() {
  const made = await team('bob');
  const [bob] = made.others as [Person];
  pull(bob);
  const forger = new Forger(bob);
  const root = await forger.root('members/bob.');
  for (let key = 0; key < 24; key++) forger.put('version', forger.version(`k${key}`, 1, root));
  push(bob);
  pull(made.alice);
  return { ...made, bob };
}

const keptIn = ({ home }: Person): string => {
  const folder = join(home, 'state', 'coffer', 'team', 'keyrings');
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.judged')) ?? 'none');
};
const value = ({ place }: Person): Promise<string> => place.ok('secrets get app.env DB');
/** Writes the kept judgement anew, as it would be if the keyring had no version of a key. */
function emptyKept(person: Person): void {
  const bytes = readFileSync(keptIn(person));
  const cut = bytes.indexOf('\n') + 1;
  const { loaded, state } = deserialize(bytes.subarray(cut)) as JudgedFacts;
  const other = serialize({ loaded, state: { ...state, versions: new Map() } });
  writeFileSync(keptIn(person), Buffer.concat([bytes.subarray(0, cut), other]));
}

describe('the judgement of a large keyring', () => {
  it('is kept and used by what only reads, and by nothing that changes or checks', async () => {
    const { alice } = await largeTeam();
    expect(await value(alice)).toBe('s3cret');
    emptyKept(alice);
    expect((await alice.place.run('secrets get app.env DB')).stderr).toContain('no key "app"');
    await alice.place.ok(['secrets', 'set', '-q', 'new.env', 'DB', 'x']);
    await alice.place.ok('team check');
    await alice.place.ok('team key rotate -q app');
  });

  it('is not used once any file is another, also with a kept one that was cut', async () => {
    const { people, alice, bob } = await largeTeam();
    const erin = people.person('erin');
    expect(await value(alice)).toBe('s3cret');
    emptyKept(alice);
    await bob.place.ok(['team', 'add', '-q', 'erin', erin.key]);
    push(bob);
    pull(alice);
    expect(await value(alice)).toBe('s3cret');
    emptyKept(alice);
    const path = fact(alice, 'members/erin.');
    const text = readFileSync(path);
    writeFileSync(path, text.toString().replace('role user', 'role usor'));
    const altered = await alice.place.run('secrets get app.env DB');
    expect(altered).toMatchObject({ exitCode: 0, stdout: 's3cret' });
    emptyKept(alice);
    rmSync(path);
    expect(await value(alice)).toBe('s3cret');
    writeFileSync(path, text);
    expect(await value(alice)).toBe('s3cret');
    truncateSync(keptIn(alice), 100);
    expect(await value(alice)).toBe('s3cret');
  });

  it('is not used once a removal is known that it was made without', async () => {
    const { alice, bob } = await largeTeam();
    expect(await value(bob)).toBe('s3cret');
    await alice.place.ok('team remove -q bob --yes');
    await alice.place.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'newer']);
    push(alice);
    pull(bob);
    expect((await bob.place.run('secrets get app.env DB')).exitCode).toBe(4);
    expect(await value(alice)).toBe('newer');
    expect(await value(alice)).toBe('newer');
  });
});
