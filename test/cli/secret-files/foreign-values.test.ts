import { describe, expect, it } from 'vitest';
import { sealFiles } from '../../../src/cli/secret-files/transform.ts';
import { denied } from '../../../src/ground/errors.ts';
import type { JsonObject } from '../../../src/ground/objects.ts';
import { loadFormat } from '../../../src/secret-files/formats.ts';
import { answeredSession } from '../answering.ts';
import { DirectoryHere } from '../directory-here.ts';

/** A nonce, a tag and two bytes between them, in base64. */
const PAYLOAD = Buffer.alloc(30, 7).toString('base64');

const NONE =
  'coffer: .env:1: none of the 2 values can be decrypted: they were encrypted with another store, or are damaged ' +
  '(a new store or key cannot decrypt the value; ';

/** The file of somebody else, whose key has the name of a key here. */
async function theirFile(rotations = 0): Promise<string> {
  const theirs = await DirectoryHere.withStore({ COFFER_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') });
  for (let count = 0; count < rotations; count++) await theirs.ok('transit keys rotate app');
  theirs.write('.env', 'TOKEN=one\nPASSWORD=two\n');
  await theirs.ok('secrets encrypt .env --key app');
  return theirs.read('.env');
}

async function clone(rotations?: number): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  here.write('.env', await theirFile(rotations));
  return here;
}

describe('a clone whose reader has no store', () => {
  it.each(['secrets set .env NEW three', 'secrets encrypt .env --key app'])(
    'says to ask for access, not to create a store that opens nothing: %s',
    async (line) => {
      const here = DirectoryHere.make();
      const before = `${await theirFile()}NEW=three\n`;
      here.write('.env', before);
      const said = await here.refused(line, 3);
      expect(said).toMatch(/^coffer: \.env:1: encrypted with key "app", but there is no store in /);
      expect(said).toContain('ask the author for access: "coffer help sharing")');
      expect(said).not.toContain('coffer init');
      expect(here.read('.env')).toBe(before);
    },
  );

  it('is told how to create one where nothing is encrypted yet', async () => {
    const here = DirectoryHere.make();
    here.write('.env', 'NEW=three\n');
    expect(await here.refused('secrets encrypt .env --key app', 3)).toContain('run "coffer init"');
  });
});

describe('a file whose values a key of the same name of another store has encrypted', () => {
  it.each([
    ['adding a value', 'secrets set .env NEW three', 0],
    ['setting one again', 'secrets set .env TOKEN three', 0],
    ['naming the key', 'secrets set .env NEW three --key app', 0],
    ['encrypting a value', 'secrets encrypt .env --key app', 0],
    ['a key that was rotated there', 'secrets set .env NEW three', 2],
  ])('is refused before it is written when %s', async (_, line, rotations) => {
    const here = await clone(rotations);
    if (line.includes('encrypt')) here.write('.env', `${here.read('.env')}NEW=three\n`);
    const before = here.read('.env');
    const said = await here.refused(line, 4);
    const read = await here.refused('exec -f .env -- true', 4);
    if (rotations === 0) expect(said).toMatch(NONE);
    expect(read).toContain(said);
    expect(said).toContain('ask the author for access: "coffer help sharing")');
    expect(here.read('.env')).toBe(before);
  });

  it('is not printed either when it comes from standard input', async () => {
    const here = await clone();
    const input = `${here.read('.env')}NEW=three\n`;
    const said = await here.refused('secrets encrypt - --format dotenv --key app', 4, { input });
    expect(said).toContain('none of the 2 values can be decrypted');
  });

  it('leaves other files of the same command alone', async () => {
    const here = await clone();
    const theirs = `${here.read('.env')}NEW=three\n`;
    here.write('.env', theirs);
    here.write('own.env', 'OURS=four\n');
    expect((await here.run('secrets encrypt .env own.env --key app')).exitCode).toBe(4);
    expect(here.read('.env')).toBe(theirs);
    expect(here.read('own.env')).toContain('OURS=coffer:app:v1:');
  });
});

describe('a file with values of this store', () => {
  it('takes values of several of its keys', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create other');
    here.write('.env', 'A=one\n');
    await here.ok('secrets encrypt .env --key app');
    await here.ok('secrets set .env B two --key other');
    await here.ok('secrets set .env C three --key app');
    expect(await here.ok('secrets decrypt .env --stdout')).toBe('A=one\nB=two\nC=three');
  });

  it('is mended by setting again what another store has encrypted', async () => {
    const here = await DirectoryHere.withStore();
    here.write('.env', 'OURS=one\n');
    await here.ok('secrets encrypt .env --key app');
    here.write('.env', `${here.read('.env')}${await theirFile()}`);
    await here.ok('secrets set .env TOKEN three');
    await here.ok('secrets set .env PASSWORD four');
    expect(await here.ok('secrets decrypt .env --stdout')).toBe('OURS=one\nTOKEN=three\nPASSWORD=four');
  });

  it('warns where the first value is of another store, and others are not', async () => {
    const here = await DirectoryHere.withStore();
    here.write('own.env', 'OURS=one\n');
    await here.ok('secrets encrypt own.env --key app');
    here.write('.env', `${await theirFile()}${here.read('own.env')}`);
    const { exitCode, err } = await here.run('secrets set .env NEW two');
    expect([exitCode, err]).toEqual([
      0,
      'coffer: warning: .env:1: TOKEN: cannot decrypt; the value is left unchanged\n',
    ]);
  });

  it('can have values set again that were exchanged', async () => {
    const here = await DirectoryHere.withStore();
    here.write('.env', 'A=one\nB=two\n');
    await here.ok('secrets encrypt .env --key app');
    const [a = '', b = ''] = here.read('.env').split('\n');
    here.write('.env', `A${b.slice(1)}\nB${a.slice(1)}\n`);
    await here.ok('secrets set .env A three');
    await here.ok('secrets set .env B four');
    expect(await here.ok('secrets decrypt .env --stdout')).toBe('A=three\nB=four');
  });

  it('can have its only value set again if the end of that is missing', async () => {
    const here = await DirectoryHere.withStore();
    here.write('.env', 'A=one\n');
    await here.ok('secrets encrypt .env --key app');
    here.write('.env', here.read('.env').trimEnd().slice(0, -5));
    await here.ok('secrets set .env A two');
    expect(await here.ok('secrets decrypt .env --stdout')).toMatch(/=two$/);
  });

  /** Sends new values for a file of two to a store that decrypts so. */
  const sealedBy = async (decrypt: () => JsonObject) => {
    const items: number[] = [];
    const { session } = answeredSession((name, parameters) => {
      if (name === 'transit decrypt') items.push((parameters['batch_input'] as unknown[]).length);
      return {
        batch_results: [name === 'transit decrypt' ? decrypt() : { ciphertext: `vault:v1:${PAYLOAD}` }],
      };
    });
    const format = await loadFormat('dotenv');
    const file = format.parse(`A=coffer:app:v1:${PAYLOAD}\nB=coffer:app:v1:${PAYLOAD}\nC=x\n`, '.env');
    const places = file.places.filter(({ sealed }) => sealed === undefined);
    const key = { mount: 'transit', name: 'app' };
    const [result] = await sealFiles(session, [{ path: '.env', format, file, key, places }]);
    return { result, items };
  };

  it('has one value decrypted when others are encrypted, however many it has', async () => {
    const { result, items } = await sealedBy(() => ({ plaintext: '' }));
    expect(result).toMatchObject({ changed: 1 });
    expect(items).toEqual([1]);
  });

  it('takes values from a token that may not decrypt', async () => {
    const { result } = await sealedBy(() => {
      throw denied('permission denied');
    });
    expect(result).toMatchObject({ changed: 1 });
  });
});
