import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

describe('coffer transit envelope encrypt in a script', () => {
  it.each(['enc', 'coffer', 'age', 'gpg'])(
    'does not encrypt a second file that is named as the copy of the first, with .%s',
    async (ending) => {
      const here = await DirectoryHere.withStore();
      here.write('f', 'text');
      here.write(`f.${ending}`, 'old');
      const refused = await here.run(`transit envelope encrypt app f f.${ending}`);
      expect(refused).toMatchObject({ exitCode: 2, out: '' });
      expect(refused.err).toContain(
        `f.${ending} would be encrypted as well (to write to f.${ending} use --out: ` +
          `"coffer transit envelope encrypt app f --out f.${ending}"` +
          // With .coffer, the result of the first file would have that name.
          (ending === 'coffer'
            ? ')'
            : `; to encrypt both: "coffer transit envelope encrypt app --in f f.${ending}")`),
      );
      expect(here.read(`f.${ending}`)).toBe('old');
    },
  );

  it('encrypts both with --in, and two files whose names say nothing', async () => {
    const here = await DirectoryHere.withStore();
    for (const name of ['f', 'f.enc', 'g']) here.write(name, 'text');
    await here.ok('transit envelope encrypt app --in f f.enc');
    await here.ok('transit envelope encrypt app f g --force');
    for (const name of ['f.coffer', 'f.enc.coffer', 'g.coffer'])
      expect(existsSync(here.file(name))).toBe(true);
  });

  it('says of a file in the place of the key that the key comes first, with the exit code of a missing key', async () => {
    const here = await DirectoryHere.withStore();
    here.write('f', 'text');
    const refused = await here.run('transit envelope encrypt f --out g', { input: 'x' });
    expect(refused).toMatchObject({ exitCode: 3, out: '' });
    expect(refused.err).toBe(
      'coffer: f is a file, and no key has this name: the key comes first (run "coffer transit envelope encrypt KEY f --out g")\n',
    );
    expect((await here.run('transit envelope encrypt nope --out g', { input: 'x' })).err).toContain(
      'key "nope" not found',
    );
    expect(existsSync(here.file('g'))).toBe(false);
  });

  it('says of a key beside recipients that one of them is enough, and which keys are recipients', async () => {
    const here = await DirectoryHere.withStore();
    here.write('f', 'text');
    expect(await here.refused('transit envelope encrypt app --recipient age1x --in f', 2)).toContain(
      'NAME cannot be used with --recipient (omit app, or omit --recipient; if the type of the key is x25519, it can be given as --recipient app)',
    );
  });
});
