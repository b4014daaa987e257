import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { freshIdentity, recipientOfIdentity } from '../../src/transit/envelope/age/recipients.ts';
import { builtCommand } from '../built.ts';
import { isLong } from '../long.ts';
import {
  FAKE_IDENTITY,
  FAKE_RECIPIENT,
  makeFakePlugin,
  OTHER_FAKE_IDENTITY,
  OTHER_FAKE_RECIPIENT,
} from '../plugins/fake-plugin.ts';
import { HYBRID_TAG_RECIPIENT, makeTagPlugin, TAG_IDENTITY, TAG_RECIPIENT } from '../plugins/tag-plugin.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { fact, People, type Person, pull, push, team } from './team-people.ts';

/** Somebody with a directory of plugins, whose use is logged. */
function withPlugins(person: Pick<Person, 'home' | 'place'>, env: Readonly<Record<string, string>> = {}) {
  const bin = join(person.home, 'bin');
  mkdirSync(bin, { recursive: true });
  makeFakePlugin(bin);
  makeTagPlugin(bin);
  const PATH = [bin, process.env['PATH']].join(':');
  return person.place.with({ PATH, FAKE_LOG: join(person.home, 'log'), ...env });
}

/** How often the plugin was run to open something since this was asked last. */
function openings({ home }: Person): number {
  const log = join(home, 'log');
  if (!existsSync(log)) return 0;
  const count = readFileSync(log, 'utf8').match(/^run identity-v1/gm)?.length ?? 0;
  writeFileSync(log, '');
  return count;
}

/** Alice has made a keyring; Bob will be let in with whatever key. */
async function founded() {
  const people = new People();
  const [alice, bob] = [people.person('alice'), people.person('bob')];
  const at = withPlugins(alice);
  await at.ok('team init -q');
  writeFileSync(alice.place.file('.coffer.yaml'), 'rules:\n  - files: "*.env"\n    key: app\n');
  await at.ok(['secrets', 'set', '-q', 'app.env', 'DB', 's3cret']);
  const letIn = async (name: string, key: string): Promise<string> =>
    ((await at.json(['team', 'add', name, key])) as { readonly trust: string }).trust;
  const share = (): void => {
    push(alice);
    pull(bob);
  };
  return { alice, bob, at, letIn, share };
}
const stranger = (): string => recipientOfIdentity(freshIdentity(systemRandom));
const value = (place: Place): Promise<string> => place.ok('secrets get -q app.env DB');

describe('a key of an age plugin in a keyring', () => {
  it('is used once by a command, for any number of values and root keys', async () => {
    const { alice, bob, at, letIn, share } = await founded();
    const bobs = withPlugins(bob, { COFFER_IDENTITY: FAKE_IDENTITY });
    const trust = await letIn('bob', FAKE_RECIPIENT);
    await letIn('erin', stranger());
    await at.ok(['secrets', 'set', '-q', 'other.env', 'PORT', '80']);
    const older = readFileSync(alice.place.file('app.env'));
    await at.ok('team remove -q erin --yes');
    share();
    writeFileSync(bob.place.file('older.env'), older);
    await bobs.ok(['team', 'trust', '-q', trust]);
    openings(bob);
    const { stdout } = await bobs.spawned.run('exec -q -f app.env -f other.env -- printenv DB PORT');
    expect([stdout, openings(bob)]).toEqual(['s3cret\n80\n', 1]);
    expect(await bobs.refused('secrets decrypt older.env --stdout', 4)).toContain('removed members (erin)');
    expect(openings(bob)).toBe(1);
    await bobs.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'of bob']);
    push(bob);
    pull(alice);
    expect(await value(at)).toBe('of bob');
  });

  it.runIf(isLong)('founds a keyring and changes it, if its public key stands beside it', async () => {
    const people = new People();
    const alice = people.person('alice');
    const at = withPlugins(alice, { COFFER_IDENTITY: FAKE_IDENTITY });
    expect(await at.refused('team init', 4)).toContain(
      'add the line "# public key: age1…" above the identity',
    );
    const told = at.with({ COFFER_IDENTITY: `#    Recipient: ${FAKE_RECIPIENT}\n${FAKE_IDENTITY}` });
    await told.ok('team init -q');
    expect(readFileSync(fact(alice, 'store.'), 'utf8')).toContain(`key ${FAKE_RECIPIENT}\n`);
    await told.ok(['team', 'add', '-q', 'bob', stranger()]);
    await told.ok(['team', 'add', '-q', 'carol', OTHER_FAKE_RECIPIENT]);
    // It is told by the only card of an admin that such a key may be for, but not which of two cards is hers.
    expect(await at.refused('team remove bob --yes', 4)).toContain(
      'COFFER_IDENTITY does not contain the public key',
    );
    await told.ok('team remove -q bob --yes');
  });

  it.runIf(isLong)('opens beside others of the same plugin, and of other groups', async () => {
    const { alice, bob, at, letIn, share } = await founded();
    const hybrid = withPlugins(alice, { FAKE_MANNER: 'post-quantum' });
    const labelled = withPlugins(alice, { FAKE_MANNER: 'labels' });
    const trust = await letIn('bob', FAKE_RECIPIENT);
    for (const [name, key] of [
      ['carol', OTHER_FAKE_RECIPIENT],
      ['dave', TAG_RECIPIENT],
      ['erin', HYBRID_TAG_RECIPIENT],
    ] as const)
      await letIn(name, key);
    const identities = [FAKE_IDENTITY, OTHER_FAKE_IDENTITY, TAG_IDENTITY];
    const removals = [
      ['frank', at, 2],
      ['grace', hybrid, 2],
      ['heidi', labelled, 3],
    ] as const;
    for (const [name, admin, files] of removals) {
      await letIn(name, stranger());
      await admin.ok(['team', 'remove', '-q', name, '--yes']);
      expect(readFileSync(fact(alice, `removals/${name}.`), 'utf8').match(/BEGIN AGE/g)).toHaveLength(files);
      share();
      for (const identity of identities) {
        const their = withPlugins(bob, { COFFER_IDENTITY: identity });
        if (identity === FAKE_IDENTITY) await their.ok(['team', 'trust', '-q', trust]);
        expect(await value(their)).toBe('s3cret');
      }
    }
  });

  it('has its person wait where the plugin is missing or fails, and be given the keys later', async () => {
    const { alice, bob, at, letIn, share } = await founded();
    const trust = await letIn('bob', FAKE_RECIPIENT);
    await letIn('erin', stranger());
    await letIn('frank', stranger());
    const without = await alice.place.run('team remove erin --yes');
    expect(without).toMatchObject({ exitCode: 0 });
    expect(without.stderr).toMatch(
      /bob does not get the team's keys yet: cannot encrypt to age1fake1\w+ \(age-plugin-fake is not installed\)/,
    );
    const failing = await at.with({ FAKE_MANNER: 'refuses' }).run('team remove frank --yes');
    expect(failing.stderr).toContain('(age-plugin-fake failed: the key is locked)');
    share();
    const bobs = withPlugins(bob, { COFFER_IDENTITY: FAKE_IDENTITY });
    await bobs.run(['team', 'trust', '-q', trust]);
    expect(await bobs.refused('secrets get app.env DB', 4)).toContain('none of your keys opens version');
    await at.ok('team settle -q');
    share();
    expect(await value(bobs)).toBe('s3cret');
    // What adds somebody fails as a whole.
    const before = readFileSync(alice.place.file('.coffer.yaml'));
    expect((await alice.place.run(['team', 'add', 'grace', OTHER_FAKE_RECIPIENT])).stderr).toContain(
      'is not installed',
    );
    expect(readFileSync(alice.place.file('.coffer.yaml'))).toEqual(before);
    expect(JSON.stringify(await at.json('team list'))).not.toContain('grace');
  });

  it.runIf(isLong)('that fails is named once, and passed over where another key opens', async () => {
    const { bob, letIn, share } = await founded();
    const spare = freshIdentity(systemRandom);
    const trust = await letIn('bob', FAKE_RECIPIENT);
    await letIn('spare', recipientOfIdentity(spare));
    share();
    const bobs = withPlugins(bob, { COFFER_IDENTITY: FAKE_IDENTITY, FAKE_MANNER: 'refuses' });
    await bobs.ok(['team', 'trust', '-q', trust]);
    expect(await bobs.refused('secrets get app.env DB', 1)).toContain(
      'age-plugin-fake failed: the key is locked',
    );
    expect(openings(bob)).toBe(1);
    const both = bobs.with({ COFFER_IDENTITY: `${FAKE_IDENTITY}\n${spare}` });
    expect(await value(both)).toBe('s3cret');
    expect(openings(bob)).toBe(0);
  });

  it('is not run for somebody whom this machine does not know, by whoever signed for them', async () => {
    const { people, alice, others } = await team('carol');
    const [carol] = others as [Person];
    const added = withPlugins(carol);
    await added.ok(['team', 'add', '-q', 'mallory', FAKE_RECIPIENT]);
    push(carol);
    pull(alice);
    await alice.place.ok(['team', 'add', '-q', 'bob', people.person('bob').key]);
    const at = withPlugins(alice);
    const { stderr } = await at.run('team remove bob --yes');
    expect(stderr).toContain('mallory is new to this machine (added by carol');
    expect(existsSync(join(alice.home, 'log'))).toBe(false);
  });
});

describe('a key of a store in a keyring', () => {
  it('is there by its public key only, and is opened by the plugin through the agent of the store', async () => {
    const { bob, at, letIn, share } = await founded();
    const [bin, run, file] = ['bin', 'run', 'identity'].map((name) => join(bob.home, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(bin);
    mkdirSync(run, { mode: 0o700 });
    symlinkSync(builtCommand(), join(bin, 'age-plugin-coffer'));
    const bobs = bob.place.with({
      PATH: [bin, process.env['PATH']].join(':'),
      XDG_RUNTIME_DIR: run,
      COFFER_STORE: join(bob.home, 'store'),
      COFFER_IDENTITY_FILE: file,
    });
    const owner = bobs.with({ COFFER_MASTER_KEY: MASTER_KEY, COFFER_IDENTITY_FILE: undefined });
    await owner.ok('init -q');
    await owner.ok('transit keys create -q inbox --type x25519');
    await owner.ok('unlock -q');
    const offered = (await owner.json('agent offer inbox --age')) as {
      readonly identity: string;
      readonly recipient: string;
    };
    expect(await at.refused(['team', 'add', 'bob', offered.recipient], 2)).toContain(
      'coffer transit keys public KEY --format age',
    );
    const recipient = (await owner.ok('transit keys public inbox --format age')).trim();
    writeFileSync(file, `# public key: ${recipient}\n${offered.identity}\n`, { mode: 0o600 });
    const trust = await letIn('bob', recipient);
    share();
    await bobs.ok(['team', 'trust', '-q', trust]);
    expect(await value(bobs)).toBe('s3cret');
    writeFileSync(file, `# public key: ${offered.recipient}\n${offered.identity}\n`);
    expect((await bobs.run('team init folder')).stderr).toContain(
      'age1coffer1… names a key in your own store',
    );
    expect(existsSync(bobs.file('folder/.coffer'))).toBe(false);
    await owner.ok('lock');
  });
});

describe('a slot for a recipient on P-256', () => {
  it.each([
    ['age1tag', TAG_RECIPIENT],
    ...(isLong ? [['age1tagpq', HYBRID_TAG_RECIPIENT] as const] : []),
  ] as const)('opens with the plugin that has the key, and is made without it: %s', async (_, recipient) => {
    const place = emptyPlace();
    onTestFinished(() => removePlace(place));
    await place.ok(['init', '-q', '--recipient', recipient]);
    const opened = withPlugins({ home: place.directory, place }, { COFFER_IDENTITY: TAG_IDENTITY });
    await opened.ok('transit keys create -q orders');
    expect(await opened.ok('slots list')).toContain(recipient.slice(0, 20));
    const other = opened.with({ COFFER_IDENTITY: freshIdentity(systemRandom) });
    expect(await other.refused('slots list', 4)).toContain('cannot be unlocked with COFFER_IDENTITY');
  });
});
