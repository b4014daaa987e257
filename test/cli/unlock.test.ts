import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { outputOf } from '../../src/cli/secrets/secret-sources.ts';
import { DirectoryHere } from './directory-here.ts';

describe('the command that prints the master key', () => {
  const environment = {
    PATH: process.env['PATH'],
    COFFER_STORE: '/srv/store',
    COFFER_MASTER_KEY: 'secret',
    COFFER_MASTER_KEY_FILE: '/srv/key',
    COFFER_PASSPHRASE: 'secret',
    COFFER_NEW_PASSPHRASE: 'secret',
    COFFER_TOKEN: 'secret',
  };

  it('gets the environment, but none of the other secrets in it', () => {
    const seen = outputOf('env', environment).toString().split('\n');
    expect(seen).toContain('COFFER_STORE=/srv/store');
    expect(seen).toContain('COFFER_MASTER_KEY_FILE=/srv/key');
    expect(seen.filter((line) => line.includes('secret'))).toEqual([]);
  });
});

describe('a file that is too short for a key file', () => {
  const why = (file: string, step = ''): string =>
    `${file} is not a key file: it has 6 bytes, a key file has at least 32 (` +
    `${step}create one with "coffer keygen --out ${file}.new")`;

  it('is named, with its length and what names it, where a store is opened, created or gets a slot', async () => {
    const here = await DirectoryHere.withStore();
    here.write('home/hello', 'hello\n');
    chmodSync(here.file('home/hello'), 0o600);
    const file = here.file('home/hello');
    const environment = { COFFER_MASTER_KEY: undefined, COFFER_MASTER_KEY_FILE: file };
    const ofStore = why(file, 'an existing store needs its own key; for a new store, ');
    expect(await here.refused('transit keys list', 2, { environment })).toBe(
      `coffer: COFFER_MASTER_KEY_FILE: ${ofStore}`,
    );
    expect(await here.refused('init --store new', 2, { environment })).toBe(
      `coffer: COFFER_MASTER_KEY_FILE: ${why(file)}`,
    );
    expect(await here.refused(`slots add --key-file ${file}`, 2)).toBe(`coffer: --key-file: ${why(file)}`);
  });
});
