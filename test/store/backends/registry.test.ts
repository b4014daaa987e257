import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  locationForms,
  locationFrom,
  migrateAt,
  printLocation,
  uselessSecrets,
} from '../../../src/store/backends/registry.ts';
import { thrownBy } from '../../reference/thrown.ts';
import { temporaryDirectory } from '../temporary-store.ts';

const FORM = 'it is not of the form postgres://USER@HOST/DATABASE';
const OTHER = 'use postgres://USER@HOST/DATABASE, or the path of a directory, with ./ in front';
const SERVER = 'the address of a server belongs in --address or COFFER_ADDR';
const nothing = (): undefined => undefined;
const from = (variables: Readonly<Record<string, string>>) => (name: string) => variables[name];

describe('the registry of backends', () => {
  it('names the forms of locations for people', () => {
    expect(locationForms).toBe('directory, or postgres://USER@HOST/DATABASE');
  });

  it.each(['store', '/srv/store', 'postgres', 'postgres:/x', './postgres://x'])(
    'takes %s for a directory, with nothing from the environment',
    (text) => {
      expect(locationFrom(text, () => 'set')).toBe(text);
      expect(uselessSecrets(text)).toEqual(['PGPASSWORD']);
    },
  );

  it.each(['postgres://db/keys', 'postgresql://db/keys', 'POSTGRES://db/keys'])(
    'takes %s for a database, whose password stays in the environment',
    (text) => {
      expect(uselessSecrets(text)).toEqual([]);
      expect(uselessSecrets(locationFrom(text, nothing))).toEqual([]);
    },
  );

  it.each([
    ['postgress://ada:secret@db/keys', 'unknown scheme "postgress"', 'did you mean "postgres://"?'],
    ['postgre://ada:secret@db/keys', 'unknown scheme "postgre"', 'did you mean "postgres://"?'],
    ['postgersql://db/keys', 'unknown scheme "postgersql"', 'did you mean "postgresql://"?'],
    ['mysql://ada:secret@db/keys', 'unknown scheme "mysql"', OTHER],
    ['s3://secret/keys', 'unknown scheme "s3"', OTHER],
    ['http://ada:secret@db/keys', 'unknown scheme "http"', SERVER],
    ['HTTPS://ada:secret@db', 'unknown scheme "https"', SERVER],
    ['file:///srv/secret', 'unknown scheme "file"', 'use the path alone, without "file://"'],
    ['jdbc:postgresql://db/keys?password=secret', FORM, OTHER],
    ['ada:secret://db', FORM, OTHER],
    ['://ada:secret@db', FORM, OTHER],
    ['"postgres://ada:secret@db/keys"', FORM, 'remove the quotes and spaces around it'],
    [' postgres://ada:secret@db/keys', FORM, 'remove the quotes and spaces around it'],
    ['postgres:/ada:secret@db/keys', FORM, OTHER],
    ['postgress:ada:secret@db/keys', FORM, OTHER],
    ['host=db user=ada password=secret dbname=keys', FORM, OTHER],
    ["host='my db' user=ada password=secret dbname=keys", FORM, OTHER],
    ['password=secret', FORM, OTHER],
    ['Server=db;User=ada;Password=secret', FORM, OTHER],
    ['db:5432/keys?user=ada&password=secret', FORM, OTHER],
    ['PGPASSWORD=secret', FORM, OTHER],
    ['postgres:/ada:sec/ret-secret@db/keys', FORM, OTHER],
    ['mysql:/ada:secret@db/keys', FORM, OTHER],
    ['postgres//ada:secret@db/keys', FORM, OTHER],
    ['//ada:secret@db/keys', FORM, OTHER],
    ['ada:secret@db:5432/keys', FORM, OTHER],
    ['ada:secret@db/keys', FORM, OTHER],
    [':secret@db', FORM, OTHER],
    ['ada:sec/ret-secret@db:5432/keys', FORM, OTHER],
    ['ada:sec:ret-secret@[::1]:5432', FORM, OTHER],
    ['"ada:secret@db/keys"', FORM, OTHER],
  ])('refuses %s, which no directory is meant by, and does not repeat it', (text, reason, hint) => {
    const refusal = { kind: 'invalid', field: 'store', message: `invalid store location: ${reason}`, hint };
    expect(thrownBy(() => locationFrom(text, nothing))).toMatchObject(refusal);
    expect(thrownBy(() => uselessSecrets(text))).toMatchObject(refusal);
    expect(`${reason} ${hint}`).not.toContain('secret');
  });

  it.each(['C://store', './mysql://x', 'a=b c=d', 'key=value', 'a/mysql://b', 'a:b/c', 'ada@db/keys'])(
    'takes %s for a directory, although it resembles an address',
    (text) => expect(locationFrom(text, nothing)).toBe(text),
  );

  it.each(['./', '../', '/srv/', '~/', 'C:\\'])('takes any name behind %s for a directory', (before) => {
    for (const name of ['a:b@c:1/d', 'password=x', 'host=a password=b', 'postgres:/a:b@c', 'a//b:c@d']) {
      expect(locationFrom(before + name, nothing)).toBe(before + name);
    }
  });

  it('prints a database without its password, and with what the environment says', async () => {
    const location = locationFrom('postgres://ada:secret@/keys', from({ PGHOST: 'db', PGPASSWORD: 'other' }));
    expect(await printLocation(location)).toBe('postgres://ada@db/keys');
    expect(JSON.stringify(location)).not.toContain('other');
  });

  it('looks for passwords where psql does, unless there is one', () => {
    const home = temporaryDirectory();
    const passfile = (variables: Readonly<Record<string, string>>): unknown => {
      const location = locationFrom('postgres://db/keys', from(variables));
      return typeof location === 'object' ? location.defaults['passfile'] : undefined;
    };
    expect(passfile({ HOME: home })).toBeUndefined();
    writeFileSync(join(home, '.pgpass'), '');
    expect(passfile({ HOME: home })).toBe(join(home, '.pgpass'));
    expect(passfile({ HOME: home, PGPASSFILE: '/elsewhere' })).toBe('/elsewhere');
    expect(passfile({ HOME: home, PGPASSWORD: 'secret' })).toBeUndefined();
  });

  it('has nothing to migrate in a directory', async () => {
    const directory = join(temporaryDirectory(), 'store');
    mkdirSync(directory);
    expect(await migrateAt(directory)).toBeUndefined();
  });
});
