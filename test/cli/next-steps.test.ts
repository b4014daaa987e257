import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';
import { pasted } from './pasted.ts';

describe('an error about a line that means something else here', () => {
  it.each([
    ['policy write app --in app.hcl', '(the file is the second argument: "coffer policy write NAME FILE"; '],
    ['mounts enable transit', '(did you mean "coffer mounts add"? '],
    ['mounts disable transit', '(did you mean "coffer mounts remove"? '],
    ['token create --type batch', '(use --policy NAME; without it, '],
  ])('names the next step: %s', async (line, hint) => {
    const here = await DirectoryHere.withStore();
    expect(await here.refused(line, 2)).toContain(hint);
  });
});

describe('a key that does not exist', () => {
  it.each([
    'sign f --key rel',
    'transit sign rel hi',
    'transit hmac rel hi',
    'transit datakey plaintext rel',
    'transit envelope encrypt rel --in f --out f.coffer',
    'transit envelope encrypt --recipient rel --in f --out f.age',
    'agent offer rel --ssh',
    'agent offer rel --age',
    'agent offer rel --pkcs11',
  ])('is created by the command that is named, which the line works with: %s', async (line) => {
    const here = await DirectoryHere.withStore();
    here.write('f', 'text');
    const said = await here.refused(line, 3);
    expect(said).toContain('key "rel" not found (to create it, run "coffer transit keys create rel');
    const [creation = ''] = await pasted(here, said, {});
    expect(creation).toMatch(/^transit keys create rel/);
    const { exitCode, err } = await here.run(line);
    expect({ line, exitCode, err }).toMatchObject({ exitCode: 0 });
  });

  it('is not to be created where something exists that was made with it', async () => {
    const here = await DirectoryHere.withStore();
    for (const line of ['transit decrypt rel x', 'transit keys public rel', 'transit keys rotate rel'])
      expect(await here.refused(line, 3)).toContain('(run "coffer transit keys list" to list the keys)');
  });

  it('is corrected to one of nearly the same name', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create releases --type ed25519');
    here.write('f', 'text');
    for (const line of ['sign f --key release', 'transit sign release hi'])
      expect(await here.refused(line, 3)).toContain('(did you mean "releases"?)');
  });

  it('is put first in the usage of a command that it was given to as an option', async () => {
    const here = await DirectoryHere.withStore();
    for (const option of ['--key release', '--key=release'])
      expect(await here.refused(`transit sign ${option} hi`, 2)).toContain(
        'the key is the first argument; usage: coffer transit sign release [VALUE]',
      );
  });
});

it('a public key to import is given as a text, or as @FILE', async () => {
  const here = await DirectoryHere.withStore();
  const { publicKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  here.write('pub.pem', publicKey);
  await here.ok('transit import pub --type ed25519 --public-key @pub.pem');
  expect(await here.ok('transit keys public pub')).toContain(publicKey.trim());
  expect(await here.refused('transit import other --type ed25519 --public-key @none.pem', 2)).toContain(
    'none.pem',
  );
  expect(await here.refused('transit import typeless --public-key @pub.pem', 2)).toContain(
    'a key of this type cannot be imported from a public key alone (keys of type aes256-gcm96 have no public key: use --type with the type of this one, such as ed25519 or rsa-2048)',
  );
});

it('a parameter that a file has as an object is not said to be taken as text', async () => {
  const here = await DirectoryHere.withStore();
  await here.ok('auth enable jwt');
  const role = { user_claim: 'sub', bound_audiences: 'me', claim_mappings: { a: 'role' } };
  here.write('role.json', JSON.stringify(role));
  const said = await here.refused('write auth/jwt/role/r @role.json', 2);
  expect(said).toContain('claim_mappings must not set "role"');
  expect(said).not.toContain('taken as text');
});

it('a restored key is named on a terminal, also where only the backup has its name', async () => {
  const here = await DirectoryHere.withStore();
  await here.ok('transit keys create rel --exportable --allow-plaintext-backup');
  const backup = await here.ok('transit backup rel --yes');
  const said = async (line: string, terminals: readonly ('in' | 'out' | 'err')[] = ['out', 'err']) => {
    const { exitCode, out, err } = await here.run(line, { input: backup, terminals });
    return [exitCode, out, err];
  };
  expect(await said('transit restore --force')).toEqual([0, '', 'Restored key rel.\n']);
  expect(await said('transit restore other')).toEqual([0, '', 'Restored key other.\n']);
  expect(await said('transit restore --force', [])).toEqual([0, '', '']);
  expect(await said('transit restore --force -o json', [])).toEqual([0, '{}\n', '']);
});

it('encrypt refuses what is not a key type even if the key exists, and ignores a type that is one', async () => {
  const here = await DirectoryHere.withStore();
  const line = 'transit encrypt app hello --type';
  expect(await here.refused(`${line} foo`, 2)).toContain(
    '--type: unknown key type foo (use one of aes128-gcm96, ',
  );
  expect(await here.refused(`${line} AES256-GCM96`, 2)).toContain('(did you mean "aes256-gcm96"?)');
  await here.ok(`${line} rsa-2048`);
  await here.ok('write transit/encrypt/app plaintext=aGVsbG8= type=foo');
});

it.each([
  ['transit restore', 'a key backup (use the output of "coffer transit backup NAME")'],
  ['transit import other', 'a key (use PEM, an OpenSSH file, a symmetric key in base64, or an age identity)'],
])('%s names a file of another format, and what belongs there', async (line, expected) => {
  const here = await DirectoryHere.withStore();
  here.write('a.txt', 'hello\n');
  expect(await here.refused(`${line} --in a.txt`, 2)).toBe(`coffer: a.txt is not ${expected}`);
  expect(await here.refused(line, 2, { input: 'hello' })).toBe(`coffer: the input is not ${expected}`);
});
