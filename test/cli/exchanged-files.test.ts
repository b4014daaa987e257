import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';

describe('a file and a word that were exchanged', () => {
  it('bring up the right order of a policy, with the exit code of a file that cannot be read', async () => {
    const here = await DirectoryHere.withStore();
    here.write('p.hcl', 'path "x" { capabilities = ["read"] }');
    const refused = await here.run('policy write p.hcl deploy');
    expect(refused).toMatchObject({ exitCode: 2, out: '' });
    expect(refused.err).toBe(
      'coffer: no file deploy: the name comes first, then the file (run "coffer policy write deploy p.hcl")\n',
    );
    expect((await here.run('policy write deploy none.hcl')).err).toContain('cannot read none.hcl');
  });

  it.each([
    ['text', 'text'],
    ['of other bytes', Uint8Array.of(0x1f, 0x8b, 0xff, 0)],
    ['large', 'x'.repeat(2 ** 21)],
  ])('bring up the right order of a signature and its file, if that is %s', async (_, content) => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create release --type ed25519');
    here.write('app', content);
    await here.ok('sign app --key release');
    const refused = await here.run('verify app.sig app --key release');
    expect(refused.out).toBe('');
    expect(refused.exitCode).not.toBe(0);
    expect(refused.err).toBe(
      'coffer: app is not a signature: the file comes first, then its signature (run "coffer verify app app.sig --key release")\n',
    );
    await here.ok('verify app app.sig --key release');
  });
});
