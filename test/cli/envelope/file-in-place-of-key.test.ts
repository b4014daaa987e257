import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

/** A directory with the encrypted file `f.enc`. */
async function withFile(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  here.write('f.txt', 'hello');
  await here.ok('transit envelope encrypt app f.txt --out f.enc');
  return here;
}

const WAYS = [
  ['on a terminal', { terminals: ['in'] as const }],
  ['in a script with nothing on standard input', {}],
] as const;

describe('an encrypted file in the place of the key', () => {
  it.each(WAYS)('is decrypted, shown and rewrapped %s', async (_, setup) => {
    const here = await withFile();
    expect(await here.ok('transit envelope decrypt f.enc', setup)).toBe('hello');
    expect(await here.ok('transit envelope header f.enc', setup)).toContain('app');
    await here.ok('transit envelope rewrap f.enc', setup);
  });

  it('is not read where data is piped in: the word is the key then', async () => {
    const here = await withFile();
    here.write('app', 'a file named like the key');
    const { outBytes } = await here.run('transit envelope encrypt app', { input: 'piped' });
    expect(await here.ok('transit envelope decrypt app', { input: outBytes })).toBe('piped');
  });

  it.each(WAYS)('is said to be missing if neither a file nor a key has the name, %s', async (_, setup) => {
    const here = await withFile();
    for (const verb of ['decrypt', 'header', 'rewrap']) {
      expect(await here.refused(`transit envelope ${verb} f.encc`, 2, setup)).toBe(
        `coffer: no file and no key "f.encc" (did you mean "coffer transit envelope ${verb} --in f.enc"?)`,
      );
      expect(await here.refused(`transit envelope ${verb} nothing`, 2, setup)).toBe(
        'coffer: no file and no key "nothing"',
      );
      expect(await here.refused(`transit envelope ${verb} ./dir/f.enc`, 2, setup)).toContain('no such file');
    }
  });
});
