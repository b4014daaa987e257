import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { parseSshPrivateKey } from '../../src/signatures/ssh-private-key.ts';
import { writeFact } from '../../src/team/files.ts';
import { signed } from '../../src/team/signing.ts';
import { isLong } from '../long.ts';
import { Place } from './harness.ts';
import { KeptDirectory } from './kept-directory.ts';

/* People with a clone each, and a bare repository between them. Each has a home directory, and with it keys and a memory. */

export interface Person {
  readonly name: string;
  /** In the clone. */
  readonly place: Place;
  readonly home: string;
  /** The public half of the key. */
  readonly key: string;
}

export interface GitAnswer {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Configuration of git for all people, in their directory. */
const GIT_CONFIG = 'gitconfig';
/** Repositories of a test do not live long enough to need any: git would look after each change, by one process more each time. */
const WITHOUT_UPKEEP = '[gc]\nauto = 0\n[maintenance]\nauto = false\n[receive]\nautogc = false\n';

export class People {
  readonly directory: string;
  readonly remote: string;

  /** @param kept what is there already */
  constructor(kept?: KeptDirectory) {
    this.directory = kept?.path ?? mkdtempSync(join(tmpdir(), 'coffer-team-'));
    this.remote = join(this.directory, 'remote.git');
    onTestFinished(() => rmSync(this.directory, { recursive: true, force: true }));
    kept?.make();
    if (kept !== undefined) return;
    writeFileSync(join(this.directory, GIT_CONFIG), WITHOUT_UPKEEP);
    run(this.directory, ['git', 'init', '-q', '--bare', '-b', 'main', this.remote], {});
  }

  /** Somebody with an SSH key, in a clone of what is there. */
  person(name: string): Person {
    const home = join(this.directory, name);
    mkdirSync(join(home, '.ssh'), { recursive: true });
    const key = join(home, '.ssh', 'id_ed25519');
    run(home, ['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', key], {});
    chmodSync(key, 0o600);
    run(home, ['git', 'clone', '-q', this.remote, join(home, 'clone')], gitEnvironment(name, home));
    return this.known(name);
  }

  /** Somebody who has a key and a clone. */
  known(name: string): Person {
    const home = join(this.directory, name);
    return {
      name,
      home,
      key: readFileSync(join(home, '.ssh', 'id_ed25519.pub'), 'utf8').trim(),
      place: new Place(join(home, 'clone'), gitEnvironment(name, home)),
    };
  }

  /** A machine of the same person that remembers nothing. */
  freshMachine(person: Person, name: string): Person {
    const home = join(this.directory, name);
    cpSync(join(person.home, '.ssh'), join(home, '.ssh'), { recursive: true });
    const clone = join(home, 'clone');
    run(home, ['git', 'clone', '-q', this.remote, clone], gitEnvironment(name, home));
    return { ...person, home, place: new Place(clone, gitEnvironment(name, home)) };
  }
}

const gitEnvironment = (name: string, home: string): Readonly<Record<string, string>> => ({
  HOME: home,
  USER: name,
  XDG_STATE_HOME: join(home, 'state'),
  GIT_CONFIG_GLOBAL: join(home, '..', GIT_CONFIG),
  GIT_AUTHOR_NAME: name,
  GIT_AUTHOR_EMAIL: `${name}@example.org`,
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: `${name}@example.org`,
  GIT_MERGE_AUTOEDIT: 'no',
});

function run(
  cwd: string,
  [file = '', ...words]: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): GitAnswer {
  const env = Object.keys(environment).length === 0 ? process.env : (environment as NodeJS.ProcessEnv);
  const { status, stdout, stderr } = spawnSync(file, words, { cwd, env, encoding: 'utf8' });
  return { exitCode: status, stdout, stderr };
}

export const git = ({ place }: Person, line: string | readonly string[]): GitAnswer =>
  run(place.directory, ['git', ...(typeof line === 'string' ? line.split(' ') : line)], place.environment());

const SAVE = 'git add -A && { git diff --cached --quiet || git commit -q -m "$0"; }';

/** Commits all that is there. */
export const save = (person: Person, message = 'change'): void => expectDone(person, SAVE, message);

export const push = (person: Person): void =>
  expectDone(person, `${SAVE} && git push -q origin HEAD:main`, 'change');

/** By one shell for all of its commands: a new process costs that of the tests, which is large, more than it costs git. */
function expectDone({ place }: Person, script: string, message: string): void {
  const done = run(place.directory, ['sh', '-c', script, message], place.environment());
  expect(done).toMatchObject({ exitCode: 0 });
}

export const pull = (person: Person): GitAnswer => git(person, 'pull -q --no-rebase origin main');

/** The facts of a keyring, below its directory. */
export function factsOf({ place }: Person, directory = '.coffer'): readonly string[] {
  const top = place.file(directory);
  if (!existsSync(top)) return [];
  return readdirSync(top, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.[0-9a-z]{32}$/.test(path))
    .sort();
}

export const fact = (person: Person, start: string): string => {
  const found = factsOf(person).find((path) => path.startsWith(start));
  if (found === undefined) throw new Error(`there is no ${start}`);
  return person.place.file(`.coffer/${found}`);
};

export const idOf = (path: string): string => path.slice(-32);

/** Says once more what a fact says, signed by somebody who is an admin. */
export function sayAgain(person: Person, start: string): void {
  const text = readFileSync(fact(person, start), 'utf8');
  const own = `${idOf(fact(person, `members/${person.name}.`))} ${person.name}`;
  const message = text
    .slice(0, text.lastIndexOf('\nsignature ') + 1)
    .replace(/^by .*$/m, `by ${own}`)
    .replace(/^at .*$/m, 'at 2026-01-01T00:00:00Z');
  const key = parseSshPrivateKey(readFileSync(join(person.home, '.ssh', 'id_ed25519'), 'utf8'));
  if (key === undefined) throw new Error(`${person.name} has no key`);
  writeFact(person.place.file('.coffer'), message, signed(message, key));
}

interface Team {
  readonly people: People;
  readonly alice: Person;
  readonly others: readonly Person[];
}

interface KeptTeam {
  readonly kept: KeptDirectory;
  /** By a test that has not finished. */
  isUsed: boolean;
}

/** Teams by the names of the others, as they were when they were made. */
const keptTeams = new Map<string, KeptTeam>();

/**
 * Alice has made a keyring and one value; the others are in, as admins but for dave, and trust it. Each team is made once in a process, and copied
 * for the tests that follow, except in the long proof.
 */
export async function team(...others: readonly string[]): Promise<Team> {
  const names = others.join(' ');
  const known = keptTeams.get(names);
  if (known === undefined) {
    const made = await newTeam(others);
    if (!isLong) keptTeams.set(names, used({ kept: new KeptDirectory(made.people.directory), isUsed: true }));
    return made;
  }
  if (known.isUsed) return newTeam(others);
  const people = new People(used(known).kept);
  return { people, alice: people.known('alice'), others: others.map((name) => people.known(name)) };
}

function used(team: KeptTeam): KeptTeam {
  team.isUsed = true;
  onTestFinished(() => {
    team.isUsed = false;
  });
  return team;
}

async function newTeam(others: readonly string[]): Promise<Team> {
  const people = new People();
  const alice = people.person('alice');
  await alice.place.ok('team init -q');
  writeFileSync(alice.place.file('.coffer.yaml'), 'rules:\n  - files: "*.env"\n    key: app\n');
  await alice.place.ok(['secrets', 'set', '-q', 'app.env', 'DB', 's3cret']);
  push(alice);
  const found: Person[] = [];
  for (const name of others) {
    const person = people.person(name);
    const added = (await alice.place.json([
      'team',
      'add',
      name,
      person.key,
      ...(name === 'dave' ? [] : ['--admin']),
    ])) as {
      readonly trust: string;
    };
    push(alice);
    found.push(person);
    pull(person);
    await person.place.ok(['team', 'trust', '-q', added.trust]);
  }
  for (const person of found) pull(person);
  return { people, alice, others: found };
}

/** Bob has removed Dave, which has no effect, because Alice has removed Bob meanwhile. Carol has both. */
export async function withRemovalOfNoEffect() {
  const { alice, others } = await team('bob', 'carol', 'dave');
  const [bob, carol] = others as [Person, Person, Person];
  pull(bob);
  await bob.place.ok('team remove -q dave --yes');
  await alice.place.ok('team remove -q bob --yes');
  push(alice);
  save(bob);
  git(bob, 'pull -q --no-rebase -X theirs origin main');
  push(bob);
  pull(carol);
  return { alice, carol };
}
