import { deepEqual, equal, match } from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, Client } from '../client.ts';
import { installPackage } from '../python.ts';

const version = '48.0.0';
const reader = fileURLToPath(new URL('reader.py', import.meta.url));

/** Somebody with an SSH key, who has a copy of the repository. */
interface Person {
  readonly folder: string;
  readonly key: string;
  /** Runs the command in the copy. @returns its standard output, without the newline at its end */
  coffer(...words: readonly string[]): Promise<string>;
  /** Copies what another copy has, as git's union of files would. */
  takes(other: Person): void;
}

async function person(bench: Bench, name: string): Promise<Person> {
  const home = join(bench.directory, name);
  const folder = join(home, 'repository');
  mkdirSync(join(home, '.ssh'), { recursive: true });
  mkdirSync(folder);
  await bench.run('git', ['init', '-q', folder]);
  const key = join(home, '.ssh/id_ed25519');
  await bench.run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', key]);
  const [program = '', ...first] = bench.commandLine;
  const environment = { HOME: home, USER: name, XDG_STATE_HOME: join(home, 'state') };
  return {
    folder,
    key,
    coffer: async (...words) =>
      (await bench.run(program, [...first, ...words], { directory: folder, environment })).trimEnd(),
    takes(other) {
      for (const path of ['.coffer', 'app.env', '.coffer.yaml'])
        cpSync(join(other.folder, path), join(folder, path), { recursive: true });
    },
  };
}

const trustOf = (text: string): string => (JSON.parse(text) as { trust: string }).trust;
const publicKey = ({ key }: Person): string => readFileSync(`${key}.pub`, 'utf8').trim();

/** Alice's keyring with one value; the others are in as admins, and trust it. */
async function team(bench: Bench, ...names: readonly string[]): Promise<readonly [Person, ...Person[]]> {
  const alice = await person(bench, 'alice');
  await alice.coffer('team', 'init', '-q');
  writeFileSync(join(alice.folder, '.coffer.yaml'), 'rules:\n  - files: "*.env"\n    key: app\n');
  await alice.coffer('secrets', 'set', '-q', 'app.env', 'DB', 's3cret');
  const others: Person[] = [];
  for (const name of names) {
    const other = await person(bench, name);
    const added = await alice.coffer('team', 'add', name, publicKey(other), '--admin', '-o', 'json');
    other.takes(alice);
    await other.coffer('team', 'trust', '-q', trustOf(added));
    others.push(other);
  }
  for (const other of others) other.takes(alice);
  return [alice, ...others];
}

const firstOf = ({ folder }: Person): string =>
  readdirSync(join(folder, '.coffer'))
    .find((name) => name.startsWith('store.'))
    ?.slice('store.'.length) ?? '';

const python = ({ installed }: Bench): string => join(installed, 'bin/python');
const opening = ({ folder }: Person, told: string, name: string): readonly string[] => [
  ...[reader, 'open', join(folder, '.coffer'), told, join(folder, 'app.env'), name],
];
const reads = (bench: Bench, whose: Person, identity: string, name = 'DB'): Promise<string> =>
  bench.run(python(bench), [...opening(whose, firstOf(whose), name)], {
    environment: { IDENTITY: identity },
  });
const isRefused = (bench: Bench, whose: Person, identity: string): Promise<string> =>
  bench.refused(python(bench), [...opening(whose, firstOf(whose), 'DB')], {
    environment: { IDENTITY: identity },
  });

interface ReadState {
  readonly members: readonly (readonly [id: string, name: string])[];
  readonly keys: Readonly<Record<string, number | null>>;
}

/** What the reader says of a keyring. */
const judged = async (bench: Bench, { folder }: Person, told: string): Promise<ReadState> =>
  JSON.parse(await bench.run(python(bench), [reader, 'judge', join(folder, '.coffer'), told])) as ReadState;

/** What Coffer says of it. */
async function listed(whose: Person): Promise<ReadState> {
  const { members, keys } = JSON.parse(await whose.coffer('team', 'list', '-q', '-o', 'json')) as {
    members: { id: string; name: string }[];
    keys: { name: string; version: number | null }[];
  };
  return {
    members: members.map(({ id, name }) => [id, name] as const).sort(),
    keys: Object.fromEntries(keys.map((key) => [key.name, key.version])),
  };
}

async function isAgreed(bench: Bench, whose: Person): Promise<ReadState> {
  const ours = await listed(whose);
  const { members, keys } = await judged(bench, whose, firstOf(whose));
  deepEqual({ members: members.toSorted(), keys }, ours);
  return ours;
}

export const client: Client = {
  title: 'A reader of keyrings in Python, with cryptography',
  version,
  minutes: 5,
  async install(machine) {
    for (const program of ['git', 'ssh-keygen']) await machine.need('which', [program]);
    return installPackage(machine, 'cryptography', version);
  },
  checks: {
    async 'opens values with an SSH Ed25519 identity and with an X25519 one'(bench) {
      const [alice, bob] = await team(bench, 'bob');
      const identity = join(bench.directory, 'ci');
      writeFileSync(identity, await alice.coffer('team', 'add', 'ci', '--new'));
      await alice.coffer('secrets', 'set', '-q', 'app.env', 'NAME', 'two words, "quoted" and ünïcode');
      for (const one of [alice.key, bob?.key ?? '', identity])
        equal(await reads(bench, alice, one), 's3cret');
      const written = await alice.coffer('secrets', 'get', '-q', 'app.env', 'NAME');
      match(await reads(bench, alice, alice.key, 'NAME'), /two words/);
      equal(written, 'two words, "quoted" and ünïcode');
      await isAgreed(bench, alice);
    },
    async 'opens old and new values after a removal for who stays, and new ones for nobody who left'(bench) {
      const [alice, bob, carol] = await team(bench, 'bob', 'carol');
      if (bob === undefined || carol === undefined) throw new Error('nobody was added');
      bob.takes(alice);
      await alice.coffer('team', 'remove', 'bob', '--yes', '-q');
      equal(await reads(bench, alice, carol.key), 's3cret');
      match(await isRefused(bench, alice, bob.key), /nothing that this identity opens/);
      deepEqual((await isAgreed(bench, alice)).keys, { app: 2 });
      // What bob writes with the version that he had.
      await bob.coffer('secrets', 'set', '-q', 'app.env', 'DB', 'evil');
      cpSync(join(bob.folder, 'app.env'), join(alice.folder, 'app.env'));
      match(await isRefused(bench, alice, alice.key), /a version that somebody had who left/);
    },
    async 'judges as Coffer does where two removals met, and refuses where admins removed each other'(bench) {
      const [alice, bob, carol] = await team(bench, 'bob', 'carol');
      if (bob === undefined || carol === undefined) throw new Error('nobody was added');
      await alice.coffer('team', 'remove', 'bob', '--yes', '-q');
      await bob.coffer('team', 'remove', 'carol', '--yes', '-q');
      carol.takes(alice);
      await carol.coffer('team', 'list', '-q');
      carol.takes(bob);
      // Carol was removed by somebody who had been removed, which nobody knew: carol is still in.
      const { members } = await isAgreed(bench, carol);
      deepEqual(members.map(([, name]) => name).sort(), ['alice', 'carol']);
      await carol.coffer('team', 'remove', 'alice', '--yes', '-q');
      await alice.coffer('team', 'remove', 'carol', '--yes', '-q');
      carol.takes(alice);
      await bench.refused(python(bench), [reader, 'judge', join(carol.folder, '.coffer'), firstOf(carol)]);
    },
    async 'believes no file that was altered, and no keyring but the one whose id it was told'(bench) {
      const [alice] = await team(bench, 'bob');
      const members = join(alice.folder, '.coffer/members');
      const card = readdirSync(members).find((name) => name.startsWith('bob.')) ?? '';
      const text = readFileSync(join(members, card), 'utf8');
      writeFileSync(join(members, card), text.replace('role admin', 'role user'));
      const { members: left } = await judged(bench, alice, firstOf(alice));
      deepEqual(
        left.map(([, name]) => name),
        ['alice'],
      );
      await bench.refused(python(bench), [reader, 'judge', join(alice.folder, '.coffer'), '0'.repeat(32)]);
    },
  },
};
