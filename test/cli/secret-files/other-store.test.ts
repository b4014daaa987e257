import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

const SHARE =
  '(a new store or key cannot decrypt it; its author can share it with a keyring: "coffer help sharing")';

/** A file as it comes from somebody else, and a place of one's own. */
async function clone(): Promise<DirectoryHere> {
  const theirs = await DirectoryHere.withStore();
  theirs.write('.env', 'TOKEN=one\nPASSWORD=two\n');
  await theirs.ok('secrets encrypt .env --key app');
  const ours = DirectoryHere.make({ COFFER_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') });
  ours.write('.env', theirs.read('.env'));
  return ours;
}

describe('values that somebody else has encrypted', () => {
  const uses = ['exec -f .env -- true', 'secrets decrypt .env', 'secrets get .env TOKEN'];

  it.each(uses)('are not opened by making a store, which "%s" says where there is none', async (line) => {
    const here = await clone();
    expect(await here.refused(line, 3)).toBe(
      `coffer: .env:1: encrypted with key "app", but there is no store in ${here.file('.store')} ${SHARE}`,
    );
  });

  it.each(uses)('are not opened by making a key, which "%s" says where there is none', async (line) => {
    const here = await clone();
    await here.ok('init');
    expect(await here.refused(line, 3)).toMatch(
      /^coffer: \.env:1: TOKEN: no key "app" in mount "transit" \(a new store or key cannot decrypt it; /,
    );
  });

  it('are said to be of another store, once, when none of them opens', async () => {
    const here = await clone();
    await here.ok('init');
    await here.ok('transit keys create app');
    const refusal = `coffer: .env:1: none of the 2 values can be decrypted: they were encrypted with another store ${SHARE}`;
    expect(await here.refused('secrets decrypt .env', 4)).toBe(refusal);
    expect(await here.refused('exec -f .env -- true', 4)).toBe(refusal);
    expect(await here.refused('secrets get .env TOKEN', 4)).toBe(refusal);
  });

  it('are told one by one where others open', async () => {
    const here = await clone();
    await here.ok('init');
    await here.ok('transit keys create app');
    here.write('own.env', 'OURS=three\n');
    await here.ok('secrets encrypt own.env --key app');
    here.write('.env', `${here.read('.env')}${here.read('own.env')}`);
    const said = await here.refused('secrets decrypt .env', 4);
    expect(said.match(/cannot decrypt/g)).toHaveLength(2);
    expect(said).not.toContain('none of the');
    expect(said).toContain(
      'of another store; its author can share it with a keyring: "coffer help sharing")',
    );
  });
});
