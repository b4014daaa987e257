import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

/** A file with an encrypted value that has an alias, which no command would write. */
async function directoryWithAlias(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  here.write('f.yaml', 'db_password: s3cret\n');
  await here.ok('secrets encrypt --key app f.yaml');
  here.write('f.yaml', `${here.read('f.yaml').replace(': ', ': &p ')}address: *p\n`);
  return here;
}

describe('a value with an alias', () => {
  it('is taken by no command when it is encrypted, and the file stays as it is', async () => {
    const here = await directoryWithAlias();
    const before = here.read('f.yaml');
    const lines = [
      'secrets check f.yaml',
      'secrets decrypt f.yaml',
      'secrets rewrap f.yaml',
      'secrets encrypt --key app f.yaml',
      'secrets get f.yaml db_password',
      'secrets set f.yaml other x --key app',
      'secrets unset f.yaml db_password',
      'secrets inject --in f.yaml',
      'exec -f f.yaml -- true',
      'edit f.yaml',
    ];
    for (const line of lines) {
      expect(await here.refused(line, 2)).toContain('f.yaml:2: this is an alias of db_password');
    }
    here.write('tpl', '{{ coffer:f.yaml#db_password }}');
    expect(await here.refused('secrets inject --in tpl', 2)).toContain('this is an alias of db_password');
    expect(here.read('f.yaml')).toBe(before);
  });

  it('is not encrypted, and other files are', async () => {
    const here = await DirectoryHere.withStore();
    here.write('f.yaml', 'a: &p x\nb: y\nc: *p\n');
    here.write('g.yaml', 'a: x\n');
    const { exitCode, err } = await here.run('secrets encrypt --key app f.yaml g.yaml');
    expect({ exitCode, err }).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('f.yaml:3: this is an alias of a:') as string,
    });
    expect(here.read('f.yaml')).toBe('a: &p x\nb: y\nc: *p\n');
    expect(here.read('g.yaml')).toMatch(/^a: coffer:app:/);
    expect(await here.refused('secrets set f.yaml a z --key app', 2)).toContain(
      'f.yaml:3: this is an alias of a:',
    );
    await here.ok('secrets set f.yaml b z --key app');
    expect(here.read('f.yaml')).toMatch(/^a: &p x\nb: coffer:app:v1:\S+\nc: \*p\n$/);
  });
});

describe('an alias of a readable value', () => {
  const ALIASED = 'base: &b {port: &p 80}\nprod: {<<: *b, pw: s}\nalias: *p\nlist: [*p, 2]\n';
  const LEFT =
    'f.yaml: YAML aliases are not followed, so their values are left out: prod.<<, alias, list.0 (write the values in their place)';

  async function directoryWithAliases(): Promise<DirectoryHere> {
    const here = await DirectoryHere.withStore();
    here.write('.coffer.yaml', 'rules: [{files: f.yaml, key: app, only: "*.pw"}]\n');
    here.write('f.yaml', ALIASED);
    await here.ok('secrets encrypt f.yaml -q');
    return here;
  }

  it('is named by the commands that leave it out, on standard error', async () => {
    const here = await directoryWithAliases();
    const listed = await here.run('secrets list f.yaml');
    expect(listed).toMatchObject({ exitCode: 0, out: 'base.port\nprod.pw\nlist.1\n' });
    expect(listed.err).toContain(LEFT);
    expect((await here.run('exec -f f.yaml --as-file PROD_PW -- true')).err).toContain(LEFT);
    expect((await here.run('exec -f f.yaml --only PROD_PW --as-file PROD_PW -- true')).err).not.toContain(
      'aliases',
    );
    expect((await here.run('secrets list f.yaml -q')).err).toBe('');
  });

  it.each([
    ['alias', 'alias'],
    ['alias.x', 'alias'],
    ['list.0', 'list.0'],
    ['prod.port', 'prod.<<'],
  ])('is why a name is missing: %s', async (name, alias) => {
    const here = await directoryWithAliases();
    const refused = await here.refused(`secrets get f.yaml ${name}`, 3);
    expect(refused).toContain(`f.yaml has no value ${name}`);
    expect(refused).toContain(
      `${alias} is a YAML alias, which is not followed: write the values in its place`,
    );
    here.write('tpl', `{{ coffer:f.yaml#${name} }}`);
    expect(await here.refused('secrets inject --in tpl', 3)).toContain(`${alias} is a YAML alias`);
  });

  it('is not blamed for a name that is misspelt, or missing elsewhere', async () => {
    const here = await directoryWithAliases();
    for (const name of ['prod.pv', 'base.x'])
      expect(await here.refused(`secrets get f.yaml ${name}`, 3)).not.toContain('alias,');
  });

  it('is named where a variable of --only is missing', async () => {
    const here = await directoryWithAliases();
    expect(await here.refused('exec -f f.yaml --only ALIAS -- true', 3)).toContain(
      'YAML aliases in f.yaml are not followed: prod.<<, alias, list.0',
    );
  });
});
