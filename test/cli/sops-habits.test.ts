import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';

async function withFile(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  here.write('app.yaml', 'db: secret\n');
  return here;
}

describe('a command line of sops', () => {
  it.each(['encrypt -i app.yaml', 'encrypt --in-place app.yaml'])(
    'is answered with a command that can be pasted: %s',
    async (line) => {
      const here = await withFile();
      const said = await here.refused(line, 2);
      expect(said).toContain(
        'did you mean "coffer secrets encrypt app.yaml" or "coffer transit envelope encrypt ',
      );
      expect(said).not.toContain(' -i ');
      await here.ok('secrets encrypt app.yaml --key app');
    },
  );

  it.each([
    ['secrets encrypt -i app.yaml', 'leave it out: the command changes the file itself'],
    ['secrets encrypt --in-place app.yaml', 'leave it out: the command changes the file itself'],
    ['secrets decrypt -i app.yaml', 'leave it out: the command changes the file itself'],
    ['secrets decrypt --in-place app.yaml', 'leave it out: the command changes the file itself'],
    ['secrets decrypt -d app.yaml', 'did you mean "coffer secrets decrypt app.yaml --stdout"?'],
    ['secrets decrypt --extract ["db"] app.yaml', 'use "coffer secrets get app.yaml db" for one value'],
    ['edit -i app.yaml', 'leave it out: the command changes the file itself'],
    [
      'secrets set app.yaml db --value x',
      'leave it out: "coffer secrets set app.yaml NAME" asks for the value',
    ],
    ['tags list --workspace a', 'use "coffer tags of WS"'],
    ['tags of --workspace a', 'use "coffer tags of WS"'],
    ['workspaces add-tag a b', 'did you mean "coffer workspaces tag"?'],
    ['genkey', 'did you mean "coffer keygen"?'],
  ])('says what to do about an option or a word that is not there: %s', async (line, hint) => {
    expect(await (await withFile()).refused(line, 2)).toContain(hint);
  });
});

describe('a path of sops in the place of a name', () => {
  it('gets, sets and removes the value that it names', async () => {
    const here = await withFile();
    here.write('app.yaml', 'db:\n  password: old\n  "x.y": z\n');
    const set = ['secrets', 'set', 'app.yaml', '["db"]["password"]', 'new', '--key', 'app'];
    const { err } = await here.run(set, { terminals: ['err'] });
    expect(err).toContain('Set db.password in app.yaml.');
    expect(await here.ok('secrets get app.yaml db.password')).toBe('new');
    for (const path of ['["db"]["password"]', "['db']['password']", '.db.password', '$.db.password'])
      expect(await here.ok(['secrets', 'get', 'app.yaml', path])).toBe('new');
    expect(await here.ok(['secrets', 'get', 'app.yaml', '["db"]["x.y"]'])).toBe('z');
    await here.ok(['secrets', 'set', 'app.yaml', '["new"]["one"]', 'x', '--key', 'app']);
    expect(await here.ok('secrets list app.yaml')).toBe('db.password\ndb.x\\.y\nnew.one');
    await here.ok(['secrets', 'unset', 'app.yaml', '["db"]["password"]']);
    expect(await here.refused(['secrets', 'get', 'app.yaml', '["db"]["password"]'], 3)).toContain(
      'app.yaml has no value db.password',
    );
  });

  it('names the variable of a .env file, and a new one is never called as the path is written', async () => {
    const here = await withFile();
    here.write('.env', 'A=b\n');
    await here.ok(['secrets', 'set', '.env', '["DB"]', 'x', '--key', 'app']);
    expect(await here.ok('secrets list .env')).toBe('A\nDB');
  });

  it('sets a value as it stands, and says so if it has the quotation marks of JSON', async () => {
    const here = await withFile();
    for (const [name, said] of [
      ['["db"]', 'The quotation marks become part of the value. If that is not intended'],
      ['db', ''],
    ] as const) {
      const { err } = await here.run(['secrets', 'set', 'app.yaml', name, '"x"', '--key', 'app']);
      expect(err === '' ? '' : err).toContain(said);
      expect(err.includes('quotation')).toBe(said !== '');
    }
    expect(await here.ok('secrets get app.yaml db')).toBe('"x"');
  });

  it('in a template brings up the name', async () => {
    const here = await withFile();
    here.write('t', '{{ coffer:app.yaml#["db"] }}');
    expect(await here.refused('secrets inject --in t', 3)).toContain('did you mean "db"?');
  });
});

describe('a signature', () => {
  it('is made with the key that was typed before the file, by the command that is named', async () => {
    const here = await withFile();
    await here.ok('transit keys create releases --type ed25519');
    expect(await here.refused('sign releases app.yaml', 2)).toContain(
      '(no file releases; for a key with this name, use --key: "coffer sign app.yaml --key releases")',
    );
    await here.ok('sign app.yaml --key releases');
    expect(await here.refused('verify app.yaml', 2)).toContain(
      'no public key given to verify with (use "coffer verify app.yaml --key NAME" for a key of your store',
    );
    await here.ok('verify app.yaml --key releases');
  });

  it('as a third word of verify is named as the value of its option', async () => {
    const here = await withFile();
    await here.ok('transit keys create releases --type ed25519');
    const signature = await here.ok('transit sign releases ho');
    const said = await here.refused(`transit verify releases ho ${signature}`, 2);
    const command = `transit verify releases ho --signature ${signature}`;
    expect(said).toContain(`run "coffer ${command}"`);
    await here.ok(command);
  });
});
