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
    ['secrets encrypt -i app.yaml', 'leave it out: the file itself is changed'],
    ['secrets encrypt --in-place app.yaml', 'leave it out: the file itself is changed'],
    ['secrets decrypt -i app.yaml', 'leave it out: the file itself is changed'],
    ['secrets decrypt --in-place app.yaml', 'leave it out: the file itself is changed'],
    ['secrets decrypt -d app.yaml', 'did you mean "coffer secrets decrypt app.yaml --stdout"?'],
    ['secrets decrypt --extract ["db"] app.yaml', 'use "coffer secrets get app.yaml db" for one value'],
    ['edit -i app.yaml', 'leave it out: the file itself is changed'],
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

describe('a signature', () => {
  it('is made with the key that was typed before the file, by the command that is named', async () => {
    const here = await withFile();
    await here.ok('transit keys create releases --type ed25519');
    expect(await here.refused('sign releases app.yaml', 2)).toContain(
      '(no file releases: --key names the key: "coffer sign app.yaml --key releases")',
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
