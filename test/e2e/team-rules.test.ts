import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
import { type Person, pull, push, save, team } from './team-people.ts';

const write = ({ place }: Person, name: string, text: string): void => writeFileSync(place.file(name), text);
const read = ({ place }: Person, name: string): string => readFileSync(place.file(name), 'utf8');

/** Runs a command that gives values to a program: in the long proof, in a process of its own as it replaces itself. */
const used = ({ place }: Person, line: string | readonly string[]) =>
  (isLong ? place.spawned : place).run(line);

/** Mallory may push, and has no key. */
async function withMallory() {
  const { people, alice } = await team();
  return { alice, mallory: people.person('mallory') };
}

describe('somebody who can push and has no key', () => {
  it('can have nothing left readable that was encrypted, unless it is said to be right', async () => {
    const { alice, mallory } = await withMallory();
    await alice.place.ok(['secrets', 'set', '-q', 'app.env', 'MAIL', 'm1']);
    push(alice);
    pull(mallory);
    write(mallory, '.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n    except: [DB, "M*"]\n');
    push(mallory);
    pull(alice);
    await alice.place.ok('secrets decrypt -q app.env');
    expect(await alice.place.refused('secrets encrypt app.env', 1)).toMatch(
      /^coffer: \.coffer\.yaml no longer encrypts values as in the last commit: DB of app\.env would be readable; MAIL of app\.env would be readable \(\.coffer\.yaml was last changed in commit [0-9a-f]+ by mallory\) \(review the changes to \.coffer\.yaml; if they are right, use --yes\)$/,
    );
    expect(read(alice, 'app.env')).toBe('DB=s3cret\nMAIL=m1\n');
    await alice.place.ok('secrets encrypt -q --yes app.env');
    expect(read(alice, 'app.env')).toBe('DB=s3cret\nMAIL=m1\n');
  });

  it('can have nothing encrypted with another key, unless it is said to be right', async () => {
    const { alice, mallory } = await withMallory();
    await alice.place.ok('team key add -q other');
    push(alice);
    pull(mallory);
    write(mallory, '.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: other\n');
    push(mallory);
    pull(alice);
    await alice.place.ok('secrets decrypt -q app.env');
    expect(await alice.place.refused('secrets encrypt app.env', 1)).toContain(
      'DB of app.env would change from key "app" to "other" (.coffer.yaml was last changed in commit ',
    );
    await alice.place.ok('secrets encrypt -q --key app app.env');
    expect(read(alice, 'app.env')).toMatch(/^DB=coffer:app:v1:/);
  });

  it('can put no value in the clear in the place of a secret', async () => {
    const { alice, mallory } = await withMallory();
    write(mallory, 'app.env', '# new\nDB=evil\n');
    write(mallory, 'page.txt', '{{ coffer:app.env#DB }}');
    push(mallory);
    pull(alice);
    const refusal =
      'coffer: app.env:2: DB is not encrypted, but .coffer.yaml says to encrypt it (check which commit added it, e.g. with "git log -p app.env"; if the value is right, run "coffer secrets encrypt app.env")';
    const told = await used(alice, ['exec', '-f', 'app.env', '--', 'sh', '-c', 'printf %s "$DB"']);
    expect(told).toMatchObject({ exitCode: 1, stdout: '', stderr: `${refusal}\n` });
    expect(await alice.place.refused('secrets inject --in page.txt', 1)).toBe(refusal);
    expect(await alice.place.refused('secrets inject --in app.env', 1)).toBe(refusal);
    await alice.place.ok('secrets encrypt -q app.env');
    expect(await alice.place.ok('secrets inject --in page.txt')).toBe('evil');
  });
});

describe('somebody who can push and has no key, and takes the keyring away', () => {
  it('can put no value in the clear in the place of a secret', async () => {
    const { alice, mallory } = await withMallory();
    await alice.place.ok('secrets get app.env DB');
    rmSync(mallory.place.file('.coffer'), { recursive: true });
    write(mallory, 'app.env', 'DB=evil\n');
    push(mallory);
    pull(alice);
    const told = await used(alice, ['exec', '-f', 'app.env', '--', 'sh', '-c', 'printf %s "$DB"']);
    expect(told).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('app.env:1: DB is not'),
    });
  });
});

describe('a link to a file of values', () => {
  it('is asked about as the file that it leads to', async () => {
    const { alice } = await withMallory();
    symlinkSync('app.env', alice.place.file('link.env'));
    save(alice);
    await alice.place.ok('secrets decrypt -q link.env');
    write(alice, '.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n    except: DB\n');
    expect(await alice.place.refused('secrets encrypt link.env', 1)).toContain(
      'DB of link.env would be readable',
    );
  });
});

describe('a file that is called like a command', () => {
  it('is one word in the line that a refusal tells to paste', async () => {
    const { alice } = await withMallory();
    write(alice, '$(touch pwned).env', 'DB=evil\n');
    const told = await used(alice, ['exec', '-f', '$(touch pwned).env', '--', 'true']);
    expect(told.stderr).toContain(`"git log -p '$(touch pwned).env'"`);
  });
});

describe('values in the clear', () => {
  it('are given to programs where the rules leave them readable', async () => {
    const { alice } = await withMallory();
    write(alice, '.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n    except: PORT\n');
    write(alice, 'app.env', `${read(alice, 'app.env')}PORT=80\nEMPTY=\n`);
    expect(
      (await used(alice, ['exec', '--yes', '-f', 'app.env', '--', 'sh', '-c', 'echo $DB $PORT'])).stdout,
    ).toBe('s3cret 80\n');
  });

  it('are encrypted without a question where the last commit has nothing else', async () => {
    const { alice } = await withMallory();
    write(alice, 'new.env', 'A=1\n');
    save(alice);
    await alice.place.ok('secrets encrypt -q new.env');
    expect(read(alice, 'new.env')).toMatch(/^A=coffer:app:v1:/);
  });
});

const RULES = 'rules:\n  - files: "*.env"\n    key: app\n';
const running = (file: string): string => `exec -f ${file} -- true`;

describe('somebody who changes the rules and puts a value in the clear in the place of a secret', () => {
  it('is named by every command that uses or writes values, until the rules are said to be right', async () => {
    const { alice, mallory } = await withMallory();
    write(mallory, '.coffer.yaml', `${RULES}    except: DB\n`);
    write(mallory, 'app.env', 'DB=evil\n');
    write(mallory, 'page.txt', '{{ coffer:app.env#DB }}');
    push(mallory);
    pull(alice);
    const refusal =
      /^coffer: \.coffer\.yaml may encrypt less than when it was last used here: DB of app\.env is readable; in \*\.env, DB need not be encrypted any more \(\.coffer\.yaml was last changed in commit [0-9a-f]+ by mallory\) \(review the changes to \.coffer\.yaml; if they are right, use --yes\)\n?$/;
    expect(await used(alice, running('app.env'))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(refusal),
    });
    expect(await alice.place.refused('secrets inject --in page.txt', 1)).toMatch(refusal);
    expect(await alice.place.refused(['secrets', 'set', 'app.env', 'DB', 'x'], 1)).toMatch(refusal);
    expect(await alice.place.refused('secrets encrypt app.env', 1)).toMatch(refusal);
    const edited = await alice.place.with({ EDITOR: 'true' }).refused('edit app.env', 1);
    expect(edited).toContain('may encrypt less than when it was last used here: in *.env, DB');
    await alice.place.ok('secrets inject --yes --in page.txt');
    expect(await alice.place.ok('secrets inject --in page.txt')).toBe('evil');
    expect(await used(alice, running('app.env'))).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('is named as well who changes the rules first and adds the value later', async () => {
    const { alice, mallory } = await withMallory();
    write(mallory, '.coffer.yaml', `${RULES}    except: NODE_OPTIONS\n`);
    push(mallory);
    pull(alice);
    const refused = await used(alice, running('app.env'));
    expect(refused.stderr).toMatch(
      /here: in \*\.env, NODE_OPTIONS need not be encrypted any more \(.* was last changed in commit .* by mallory\)/,
    );
  });

  it('is named as well who has other rules apply, or none', async () => {
    const { alice, mallory } = await withMallory();
    mkdirSync(mallory.place.file('sub'));
    mkdirSync(alice.place.file('sub'));
    write(alice, 'sub/app.env', 'DB=1\n');
    await alice.place.ok('secrets encrypt -q sub/app.env');
    write(mallory, 'sub/.coffer.yaml', 'rules:\n  - files: none\n    key: app\n');
    push(mallory);
    save(alice);
    pull(alice);
    const nearer = await used(alice, running('sub/app.env'));
    expect(nearer).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('sub/.coffer.yaml applies in place of .coffer.yaml'),
    });
    expect(await used(alice, running('app.env'))).toMatchObject({ exitCode: 0, stderr: '' });
    rmSync(mallory.place.file('.coffer.yaml'));
    write(mallory, 'app.env', 'DB=evil\n');
    push(mallory);
    pull(alice);
    const none = await used(alice, running('app.env'));
    expect(none).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/no longer exists .* by mallory/),
    });
    // Once the nearer ones are gone that were used, those above apply again.
    await used(alice, `exec --yes -f sub/app.env -- true`);
    rmSync(alice.place.file('sub/.coffer.yaml'));
    expect((await used(alice, running('sub/app.env'))).stderr).toContain(
      'sub/.coffer.yaml no longer exists (.coffer.yaml has uncommitted changes)',
    );
  });

  it('is told of who has new values encrypted with another key', async () => {
    const { alice, mallory } = await withMallory();
    await alice.place.ok('team key add -q other');
    push(alice);
    pull(mallory);
    write(mallory, '.coffer.yaml', RULES.replace('app', 'other'));
    push(mallory);
    pull(alice);
    const told = await alice.place.run(['secrets', 'set', 'app.env', 'NEW', 'x']);
    expect(told).toMatchObject({ exitCode: 0 });
    expect(told.stderr).toMatch(
      /warning: \.coffer\.yaml was changed since it was last used here: key "other" for \*\.env, no longer "app" \(\.coffer\.yaml was last changed in commit [0-9a-f]+ by mallory\)/,
    );
    expect((await alice.place.run(['secrets', 'set', 'app.env', 'NEW', 'y'])).stderr).not.toContain(
      'warning',
    );
  });
});

describe('a value that is encrypted in the last commit', () => {
  it('is not set in the clear, nor under another key, unless it is said to be right', async () => {
    const { alice } = await withMallory();
    await alice.place.ok('team key add -q other');
    write(alice, '.coffer.yaml', `${RULES}    except: DB\n`);
    await alice.place.ok('secrets decrypt -q app.env');
    await used(alice, 'exec --yes -f app.env -- true');
    const line = ['secrets', 'set', '-q', 'app.env', 'DB', 'new'];
    expect(await alice.place.refused(line, 1)).toContain('DB of app.env would be readable');
    write(alice, '.coffer.yaml', RULES.replace('app', 'other'));
    expect(await alice.place.refused(line, 1)).toContain(
      'DB of app.env would change from key "app" to "other"',
    );
    expect(read(alice, 'app.env')).toBe('DB=s3cret\n');
    await alice.place.ok([...line, '--yes']);
    expect(read(alice, 'app.env')).toMatch(/^DB=coffer:other:v1:/);
  });
});

describe('a value in the clear in the place of a secret', () => {
  it('is not encrypted by an edit, as it would look like one of the team afterwards', async () => {
    const { alice, mallory } = await withMallory();
    write(mallory, 'app.env', 'DB=evil\n');
    push(mallory);
    pull(alice);
    const edit = await alice.place.with({ EDITOR: 'true' }).refused('edit app.env', 1);
    expect(edit).toContain('app.env:1: DB is not encrypted, but .coffer.yaml says to encrypt it');
    expect(read(alice, 'app.env')).toBe('DB=evil\n');
  });

  it('is not given to a program as the variable of a secret that has another name in the file', async () => {
    const { alice, mallory } = await withMallory();
    write(
      alice,
      '.coffer.yaml',
      'rules:\n  - files: "*.yaml"\n    key: app\n    only: db.password\n    except: db_password_hint\n',
    );
    write(alice, 'app.yaml', 'db:\n  password: secret\nport: 80\ndb_password_hint: none\n');
    await alice.place.ok('secrets encrypt -q --yes app.yaml');
    push(alice);
    const shown = await used(alice, ['exec', '-f', 'app.yaml', '--', 'sh', '-c', 'echo $DB_PASSWORD $PORT']);
    expect(shown).toMatchObject({ exitCode: 0, stdout: 'secret 80\n' });
    pull(mallory);
    write(mallory, 'app.yaml', 'port: 80\ndb_password: evil\n');
    push(mallory);
    pull(alice);
    const refused = await used(alice, 'exec -f app.yaml -- true');
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        'app.yaml:2: db_password is not encrypted, but the program gets it as DB_PASSWORD, and .coffer.yaml says to encrypt values that become this variable',
      ),
    });
  });
});

describe('a check of the team', () => {
  it('names keys that rules use in several folders', async () => {
    const { alice } = await withMallory();
    expect((await alice.place.run('team check')).stderr).not.toContain('Key "app" is used');
    mkdirSync(alice.place.file('production'));
    write(alice, 'production/app.env', 'DB=2\n');
    const found = await alice.place.run('team check');
    expect(found).toMatchObject({ exitCode: 0 });
    expect(found.stderr).toContain('Key "app" is used in ., production: a value can be moved');
  });
});

describe('a pipeline', () => {
  it('remembers no rules', async () => {
    const { people, alice } = await team();
    const identity = await alice.place.ok('team add ci --new');
    push(alice);
    const runner = people.person('runner');
    const job = runner.place.with({ COFFER_IDENTITY: identity });
    await job.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'from-ci']);
    expect(readdirSync(runner.home)).not.toContain('state');
  });
});
