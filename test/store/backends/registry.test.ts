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
import { temporaryDirectory } from '../temporary-store.ts';

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
