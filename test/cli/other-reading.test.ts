import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';
import { pasted } from './pasted.ts';

async function withFiles(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  await here.ok('transit keys create rel --type ed25519');
  here.write('f', 'text');
  here.write('app.yaml', 'db: secret\n');
  here.write('g', 'text');
  await here.ok('transit envelope encrypt app --in f --out f.coffer');
  await here.ok('sign g --key rel');
  return here;
}

describe('the name of another program before its own words', () => {
  it.each([
    ['age -d f.coffer', 'transit envelope decrypt --in f.coffer'],
    ['age --decrypt f.coffer', 'transit envelope decrypt --in f.coffer'],
    ['age f.coffer -d', 'transit envelope decrypt --in f.coffer'],
    ['age -e f', 'transit envelope encrypt KEY f'],
    ['rage -d f.coffer', 'transit envelope decrypt --in f.coffer'],
    ['sops decrypt --extract ["db"] app.yaml', 'secrets get app.yaml db'],
    ['gpg -sb f', 'sign f --key NAME'],
    ['gpg --verify g.sig g', 'verify g --key NAME'],
    ['minisign -Sm f', 'sign f --key NAME'],
    ['vault list-keys', undefined],
    ['pass show rel', undefined],
  ])('is answered as the line without it: %s', async (line, command) => {
    const here = await withFiles();
    const said = await here.refused(line, 2);
    const [program] = line.split(' ');
    expect(said).toContain(`unknown command '${program}' (`);
    if (command === undefined) return;
    expect(await pasted(here, said, { KEY: 'app', NAME: 'rel' }, { input: '' })).toEqual([command]);
  });

  it.each([
    ['gpg -c new', 'transit envelope encrypt --passphrase --in FILE'],
    ['gpg -ac new', 'transit envelope encrypt --passphrase --in FILE'],
    ['pass -c db', 'secrets get FILE db --copy'],
  ])('decides what the option -c means: %s', async (line, command) => {
    const here = await withFiles();
    expect(await here.refused(line, 2)).toContain(`(did you mean "coffer ${command}"? see`);
  });

  it('is left out where the rest is a command as it stands, which is not repeated: it may have a secret', async () => {
    const here = await withFiles();
    for (const line of ['vault login s.SECRET', 'coffer transit encrypt app SECRET', 'bao login SECRET']) {
      const said = await here.refused(line, 2);
      expect(said).toContain(`(leave out "${line.split(' ')[0]}"; "coffer --help" lists the commands)`);
      expect(said).not.toContain('SECRET');
    }
  });

  it('alone, or with words that nothing here means, is said to be another program', async () => {
    const here = await withFiles();
    for (const line of ['age', 'age -h', 'age f', 'vault nope', 'coffer coffer'])
      expect(await here.refused(line, 2)).toContain(
        'is another program; "coffer --help" lists the commands)',
      );
  });
});

describe('options of one letter in one word', () => {
  it.each([
    ['sign -Sm f', 'sign f --key NAME'],
    ['sign f -Sm message', 'sign f --key NAME'],
    ['sign -ab f', 'sign f --key NAME'],
    ['sign f -bs', 'sign f --key NAME'],
    ['transit sign -Sm f', 'sign f --key NAME'],
    ['-Sm f', 'sign f --key NAME'],
    ['-SHm f', 'sign f --key NAME'],
    ['-ab f', 'sign f --key NAME'],
    ['-ea f', 'transit envelope encrypt KEY f'],
    ['secrets decrypt -di app.yaml', 'secrets decrypt app.yaml --stdout'],
  ])('of other programs lead to the command that does the same: %s', async (line, command) => {
    const here = await withFiles();
    const said = await here.refused(line, 2);
    expect(said).toMatch(/^coffer: unknown option '-[A-Za-z]+' /);
    expect(await pasted(here, said, { KEY: 'app', NAME: 'rel' }, { input: '' })).toEqual([command]);
  });

  it('that a command has are accepted, and the one that it does not have is named', async () => {
    const here = await withFiles();
    await here.ok('transit keys config app --deletion-allowed');
    expect(await here.refused('transit keys delete app -qZ', 2)).toContain("unknown option '-Z'");
    expect(await here.refused('transit keys delete app -Zq', 2)).toContain("unknown option '-Zq'");
    await here.ok('transit keys delete app -yq');
  });

  it('that say nothing here lead to the help, as does a commit to git', async () => {
    const here = await withFiles();
    expect(await here.refused('status -Zx', 2)).toContain('(see "coffer status --help")');
    expect(await here.refused('commit -Sm message', 2)).toContain('(use git itself; ');
  });

  it('are told from the misspelt name of an option with one dash', async () => {
    const here = await withFiles();
    expect(await here.refused('transit keys create x -typ ed25519', 2)).toContain('did you mean --type?');
    expect(await here.refused('transit keys create x -expotable', 2)).toContain('did you mean --exportable?');
  });
});
