import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

let here: Place;
/** No store and no key. */
let bare: Place;
const write = (name: string, text: string): void => writeFileSync(here.file(name), text);

beforeAll(async () => {
  here = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  bare = here.with({ COFFER_MASTER_KEY: undefined, COFFER_STORE: here.file('nowhere') });
  await here.ok('init -q');
  await here.ok('transit keys create -q appl');
  write('a.env', 'DB_USER=ada\nDB_PASSWORD=s3cret\nAPI_KEY=k\n');
  write('a.yaml', 'db:\n  password: p\n');
  await here.ok('secrets encrypt -q --key appl a.env a.yaml');
  write('b.env', 'PORT=80\n');
});
afterAll(() => removePlace(here));

describe('a value that a file does not have', () => {
  it.each([
    ['secrets get a.env API_KE', 'a.env has no value API_KE (did you mean "API_KEY"?)'],
    ['secrets unset a.env DB_PASWORD', 'a.env has no value DB_PASWORD (did you mean "DB_PASSWORD"?)'],
    ['secrets get a.yaml db.pasword', 'a.yaml has no value db.pasword (did you mean "db.password"?)'],
    ['secrets get a.env NOPE', 'a.env has no value NOPE (the file has DB_USER, DB_PASSWORD, API_KEY)'],
    [
      'secrets get a.yaml db',
      'a.yaml has no value db (db has nested values: use the full name of one, e.g. db.password)',
    ],
  ])('brings up the names that there are, without a key: %s', async (line, message) => {
    expect(await bare.refused(line, 3)).toBe(`coffer: ${message}`);
  });

  it('brings up the near one in a template, too', async () => {
    const input = '{{ coffer:a.env#API_KE }}';
    expect(await here.refused('secrets inject', 3, { input })).toContain(
      'standard input:1: a.env has no value API_KE (did you mean "API_KEY"?)',
    );
  });

  it('is not missed for a key of the store that is nearly spelled so', async () => {
    expect(await here.refused('secrets encrypt --key apple b.env', 3)).toContain('did you mean "appl"?');
  });
});

describe('the list of the values of a file', () => {
  it('has their names in order, and needs no key', async () => {
    expect(await bare.run('secrets list a.env')).toMatchObject({
      exitCode: 0,
      stdout: 'DB_USER\nDB_PASSWORD\nAPI_KEY\n',
    });
    expect(await bare.json('secrets list b.env')).toEqual({
      file: 'b.env',
      values: [{ name: 'PORT', encrypted: false, mount: null, key: null, version: null }],
    });
    expect(await bare.json('secrets list a.yaml')).toMatchObject({
      values: [{ name: 'db.password', encrypted: true, mount: 'transit', key: 'appl', version: 1 }],
    });
  });

  it('names the list of mounts to users of Vault', async () => {
    expect(await bare.refused('secrets list', 2)).toContain(
      'that "vault secrets list" shows, use "coffer mounts list"',
    );
  });

  it.runIf(canUseTerminals)('shows on a terminal with which key version each is encrypted', () => {
    write('c.env', `PORT=80\n${readFileSync(here.file('a.env'), 'utf8')}`);
    const { text } = onTerminal(bare, 'coffer secrets list c.env');
    expect(text).toMatch(/PORT +.*not encrypted/);
    expect(text).toMatch(/API_KEY +.*appl v1/);
  });
});

describe('a value that is set', () => {
  it('is not empty by an empty standard input, as when a command before the pipe failed', async () => {
    const before = readFileSync(here.file('a.env'), 'utf8');
    expect(await here.refused('secrets set a.env API_KEY', 2, { input: '' })).toContain(
      'standard input is empty: no value for API_KEY (pass "" as VALUE to set an empty value)',
    );
    expect(await here.refused('secrets set a.env API_KEY -', 2, { input: '' })).toContain(
      'standard input is empty',
    );
    expect(readFileSync(here.file('a.env'), 'utf8')).toBe(before);
    await here.ok(['secrets', 'set', '-q', 'b.env', '--key', 'appl', 'EMPTY', '']);
    expect(await here.ok('secrets get b.env EMPTY')).toBe('');
  });

  it.runIf(canUseTerminals)('is not asked for if its name cannot be one of the format', () => {
    const { text, exitCode } = onTerminal(here, 'coffer secrets set b.env "no name" --key appl');
    expect({ exitCode, isAsked: text.includes('Value of') }).toEqual({ exitCode: 2, isAsked: false });
    expect(text).toContain('invalid .env variable name');
  });
});
