import fs, { cpSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { areLastRules } from '../../../src/cli/secret-files/last-rules.ts';
import { identityStamp } from '../../../src/cli/secrets/identity-places.ts';
import { fileOf, memoryDirectory } from '../../../src/cli/state-directory.ts';
import { AgentJudge } from '../../../src/cli/team/agent-judge.ts';
import { TeamMemory } from '../../../src/cli/team/memory.ts';
import { version } from '../../../src/ground/version.ts';
import { KeyringAgent } from '../../../src/service/agent/keyring-agent.ts';
import type { KeyringReading, RulesInUse } from '../../../src/service/agent/keyring-calls.ts';
import { listingOf } from '../../../src/team/listing.ts';
import { fact, idOf, type Person, pull, push, team } from '../../e2e/team-people.ts';

/** Alice's agent, as it was started in her clone, and what a command there asks it. */
async function judged(...others: readonly string[]) {
  const made = await team(...others);
  const { alice } = made;
  const environment = alice.place.environment();
  const identities = identityStamp(environment) ?? '';
  const store = idOf(fact(alice, 'store.'));
  const judge = new AgentJudge({ store, cards: [store], identities }, areLastRules);
  const path = memoryDirectory(environment) ?? '';
  const seen = (directory: string) => ({ path: directory, file: fileOf(directory) ?? '' });
  const asking = { version, identities, memory: seen(path), directory: seen(alice.place.directory) };
  const keyring = alice.place.file('.coffer');
  const reading = (): KeyringReading => ({
    ...asking,
    keyring: { path: keyring, listing: listingOf(keyring)?.text ?? '' },
    values: [],
  });
  /** Which versions of a key the agent knows for a command, and whether only members have each. */
  const believed = (asked = reading(), key = 'app', number = 1): readonly boolean[] | undefined =>
    judge
      .versionsFor(asked)?.(key, number)
      .map(({ isBelieved }) => isBelieved);
  return { ...made, asking, seen, judge, reading, believed, store };
}

describe('the agent of a keyring, which judges it for commands', () => {
  it('answers for the files that a command sees, and for no others', async () => {
    const { alice, believed, reading, others } = await judged('bob');
    const [bob] = others as [Person];
    const before = reading();
    expect(believed()).toEqual([true]);
    expect(believed(before, 'app', 2)).toEqual([]);
    await bob.place.ok('team key rotate -q app');
    push(bob);
    pull(alice);
    expect(believed(before)).toBeUndefined();
    expect([believed(), believed(reading(), 'app', 2)]).toEqual([[true], [true]]);
    // The same names, sizes and times of modification, as somebody sets them who can write there.
    const seen = reading();
    const path = fact(alice, 'keys/app.v2.');
    cpSync(path, `${path}.new`);
    rmSync(path);
    cpSync(`${path}.new`, path);
    rmSync(`${path}.new`);
    utimesSync(path, 1, 1);
    expect(believed(seen)).toBeUndefined();
    expect(believed()).toEqual([true]);
  });

  it('leaves to commands what they have to tell: forged facts, missing ones, and removals that are new here', async () => {
    const { alice, others, believed, reading } = await judged('bob', 'dave');
    const [bob] = others as [Person];
    const card = readFileSync(fact(alice, 'members/dave.'), 'utf8');
    writeFileSync(fact(alice, 'members/dave.'), card.replace(/(signature .{80})./, '$1_'));
    expect(believed()).toBeUndefined();
    writeFileSync(fact(alice, 'members/dave.'), card);
    expect(believed()).toEqual([true]);
    await bob.place.ok('team remove -q dave --yes');
    push(bob);
    pull(alice);
    expect(believed()).toBeUndefined();
    await alice.place.ok('secrets get -q app.env DB');
    // Dave had the first version.
    expect([believed(), believed(reading(), 'app', 2)]).toEqual([[false], [true]]);
    rmSync(fact(alice, 'removals/dave.'));
    expect(believed()).toBeUndefined();
  });

  it('answers nobody once all cards that opened it are removed, nor for a keyring that is no longer trusted', async () => {
    const { alice, others, believed } = await judged('bob');
    const [bob] = others as [Person];
    await bob.place.ok('team remove -q alice --yes');
    push(bob);
    pull(alice);
    await alice.place.run('secrets get -q app.env DB');
    expect(believed()).toBeUndefined();
    const { alice: carol, asking, believed: ofCarol, reading } = await judged();
    expect(ofCarol()).toEqual([true]);
    new TeamMemory({}, asking.memory.path).setKeyringAt(`${carol.place.file('.git')}#`, '0'.repeat(32));
    expect(ofCarol(reading())).toBeUndefined();
  });

  it('answers no command of another version, with other keys, or with another memory', async () => {
    const { alice, believed, reading, seen } = await judged();
    const path = alice.place.file('elsewhere');
    const others: readonly Partial<KeyringReading>[] = [
      { version: '0.0.1' },
      { identities: '' },
      { memory: { ...reading().memory, file: '1 1' } },
      { memory: { path, file: fileOf(alice.place.directory) ?? '' } },
      { directory: seen(alice.home) },
      { directory: { ...reading().directory, file: '1 1' } },
      { keyring: { ...reading().keyring, path } },
    ];
    for (const other of others) expect(believed({ ...reading(), ...other })).toBeUndefined();
    expect(believed()).toEqual([true]);
    const { COFFER_IDENTITY_FILE: _, ...environment } = alice.place.environment();
    writeFileSync(`${alice.home}/.ssh/id_rsa`, 'another key');
    expect(identityStamp(environment)).not.toBe(reading().identities);
    expect(identityStamp({ ...environment, COFFER_IDENTITY: 'AGE-SECRET-KEY-1' })).toBeUndefined();
    expect(identityStamp({ ...environment, COFFER_IDENTITY_FILE: '/dev/null' })).toBeUndefined();
  });

  it('leaves a keyring to commands from which a file is taken while it is read, as by git', async () => {
    const { alice, believed, reading } = await judged();
    const before = reading();
    const path = fact(alice, 'keys/app.v1.');
    const { readFileSync: read } = fs;
    const spy = vi.spyOn(fs, 'readFileSync').mockImplementation((...all) => {
      if (all[0] === path) rmSync(path, { force: true });
      return read(...all);
    });
    onTestFinished(syncBuiltinESMExports);
    onTestFinished(() => spy.mockRestore());
    syncBuiltinESMExports();
    expect(believed(before)).toBeUndefined();
    expect(fs.existsSync(path)).toBe(false);
  });

  it('is not kept unlocked by commands that it leaves to themselves', async () => {
    const { judge, reading, store } = await judged();
    const handed = { store, cards: [store], identities: '', roots: new Map(), usable: [] };
    const agent = new KeyringAgent({
      handed: { ...handed, idleMs: 60_000, forMs: 60_000 },
      judge,
      isReachable: () => true,
    });
    onTestFinished(() => agent.lock());
    expect(await agent.read({ ...reading(), identities: '' })).toBeNull();
    expect((await agent.status()).uses).toBe(0);
    expect(await agent.read(reading())).toEqual([]);
    expect((await agent.status()).uses).toBe(1);
  });

  it('knows rules byte for byte as those that were used last, and none that were not', async () => {
    const { alice, asking, judge } = await judged();
    const text = 'rules:\n  - files: "*.env"\n    key: app\n';
    const { directory } = alice.place;
    const inUse = (bytes: string, folder = directory): RulesInUse => ({
      ...asking,
      rules: { directory: folder, bytes: Buffer.from(bytes).toString('base64') },
    });
    expect(judge.areLastRules(inUse(text))).toBe(true);
    expect(judge.areLastRules(inUse(`${text}    except: DB\n`))).toBe(false);
    expect(judge.areLastRules(inUse(text, alice.home))).toBe(false);
    expect(judge.areLastRules({ ...inUse(text), identities: '' })).toBe(false);
    const none = { ...inUse(''), rules: null };
    expect(judge.areLastRules(none)).toBe(false);
    // Directories that the agent does not have, or has another one in the place of, as in a container.
    for (const path of [join(alice.home, 'absent'), alice.home])
      expect(judge.areLastRules({ ...none, directory: { path, file: asking.directory.file } })).toBe(false);
    rmSync(`${asking.memory.path}/rules`, { recursive: true });
    expect(judge.areLastRules(none)).toBe(true);
    expect(judge.areLastRules(inUse(text))).toBe(false);
  });
});
