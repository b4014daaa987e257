import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';

describe('what a script has in the wrong form or place', () => {
  it('is named if JSON was piped into decrypt, with the option that prints the ciphertext alone', async () => {
    const here = await DirectoryHere.withStore();
    const input = await here.ok('transit encrypt app hello -o json');
    const refused = await here.run('transit decrypt app', { input });
    expect(refused).toMatchObject({ exitCode: 2, out: '' });
    expect(refused.err).toContain(
      '(this is JSON: use only the value of its member "ciphertext", which -o raw prints)',
    );
    expect((await here.run('transit decrypt app', { input: 'hello' })).err).toContain('it must start with');
  });
});
