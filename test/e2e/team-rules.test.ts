import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Person, pull, push, save, team } from './team-people.ts';

const write = ({ place }: Person, name: string, text: string): void => writeFileSync(place.file(name), text);
const read = ({ place }: Person, name: string): string => readFileSync(place.file(name), 'utf8');

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
      /^coffer: the last commit encrypts more values than \.coffer\.yaml now says: DB of app\.env would be readable; MAIL of app\.env would be readable \(last changed in [0-9a-f]+ by mallory\) \(review the changes to \.coffer\.yaml; if they are right, use --yes\)$/,
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
      'DB of app.env would change from key "app" to "other" (last changed in ',
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
      'coffer: app.env:2: DB is not encrypted, but .coffer.yaml says to encrypt it (check its author with "git log -p app.env"; if it is right, run "coffer secrets encrypt app.env")';
    const used = await alice.place.shell('coffer exec -f app.env -- sh -c \'printf %s "$DB"\'');
    expect(used).toMatchObject({ exitCode: 1, stdout: '', stderr: `${refusal}\n` });
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
    const used = await alice.place.shell('coffer exec -f app.env -- sh -c \'printf %s "$DB"\'');
    expect(used).toMatchObject({
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
    const used = await alice.place.shell("coffer exec -f '$(touch pwned).env' -- true");
    expect(used.stderr).toContain(`"git log -p '$(touch pwned).env'"`);
  });
});

describe('values in the clear', () => {
  it('are given to programs where the rules leave them readable', async () => {
    const { alice } = await withMallory();
    write(alice, '.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n    except: PORT\n');
    write(alice, 'app.env', `${read(alice, 'app.env')}PORT=80\nEMPTY=\n`);
    expect((await alice.place.shell("coffer exec -f app.env -- sh -c 'echo $DB $PORT'")).stdout).toBe(
      's3cret 80\n',
    );
  });

  it('are encrypted without a question where the last commit has nothing else', async () => {
    const { alice } = await withMallory();
    write(alice, 'new.env', 'A=1\n');
    save(alice);
    await alice.place.ok('secrets encrypt -q new.env');
    expect(read(alice, 'new.env')).toMatch(/^A=coffer:app:v1:/);
  });
});
