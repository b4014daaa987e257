import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

const TEAM = 'rules: [{files: "*.env", key: app, mount: team}]\n';
const USUAL = 'rules: [{files: "*.env", key: app}]\n';
const OTHER = { COFFER_MOUNT: 'other' };

interface Case {
  readonly rules?: string;
  readonly options?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** What an encrypted value begins with. */
  readonly key: string;
}

const CASES: readonly Case[] = [
  { rules: TEAM, key: 'team/app' },
  { rules: TEAM, options: ' --mount other', key: 'other/app' },
  { rules: TEAM, options: ' --mount transit', key: 'app' },
  { rules: TEAM, options: ' --mount other --key more', key: 'other/more' },
  { rules: TEAM, environment: OTHER, key: 'other/app' },
  { rules: TEAM, options: ' --mount team', environment: OTHER, key: 'team/app' },
  { rules: USUAL, key: 'app' },
  { rules: USUAL, options: ' --mount other', key: 'other/app' },
  { rules: USUAL, environment: OTHER, key: 'other/app' },
  { options: ' --key more', key: 'more' },
  { options: ' --key more --mount other', key: 'other/more' },
  { options: ' --key more', environment: OTHER, key: 'other/more' },
];

describe('the key that a value is encrypted with', () => {
  it('is in the mount that the user names, else in that of the rule, else in the usual one', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create more');
    for (const mount of ['team', 'other']) {
      await here.ok(`mounts add ${mount}`);
      for (const key of ['app', 'more']) await here.ok(`transit keys create ${key} --mount ${mount}`);
    }
    for (const { rules = '', options = '', environment = {}, key } of CASES) {
      here.write('.coffer.yaml', rules === '' ? 'rules: [{files: none, key: none}]\n' : rules);
      here.write('a.env', 'A=1\n');
      await here.ok(`secrets encrypt a.env${options}`, { environment });
      here.write('b.env', '');
      await here.ok(`secrets set b.env A --in -${options}`, { environment, input: '1' });
      for (const name of ['a.env', 'b.env']) {
        const [, found] = /^A=coffer:(\S+):v1:/.exec(here.read(name)) ?? [];
        expect({ rules, options, environment, name, key: found }).toEqual({
          ...{ rules, options, environment, name, key },
        });
      }
    }
  });
});
