import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';

describe('an error about a line that means something else here', () => {
  it.each([
    ['policy write app --in app.hcl', '(the file is the second argument: "coffer policy write NAME FILE"; '],
    ['mounts enable transit', '(did you mean "coffer mounts add"? '],
    ['mounts disable transit', '(did you mean "coffer mounts remove"? '],
    ['token create --type batch', '(name a policy with --policy NAME; without one, '],
  ])('names the next step: %s', async (line, hint) => {
    const here = await DirectoryHere.withStore();
    expect(await here.refused(line, 2)).toContain(hint);
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
  ['transit import other', 'a key (use PEM, a symmetric key in base64, or an age identity)'],
])('%s names a file of another format, and what belongs there', async (line, expected) => {
  const here = await DirectoryHere.withStore();
  here.write('a.txt', 'hello\n');
  expect(await here.refused(`${line} --in a.txt`, 2)).toBe(`coffer: a.txt is not ${expected}`);
  expect(await here.refused(line, 2, { input: 'hello' })).toBe(`coffer: the input is not ${expected}`);
});
