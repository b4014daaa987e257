import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Environment } from '../../src/cli/given.ts';
import { defaultDirectory, resolveSettings } from '../../src/cli/settings.ts';
import { thrownBy } from '../reference/thrown.ts';
import { temporaryDirectory } from '../store/temporary-store.ts';

const resolve = (options: Record<string, string | true>, environment: Environment = {}) =>
  resolveSettings(new Map(Object.entries(options)), { HOME: '/home/ada', ...environment });

describe('resolveSettings', () => {
  it('lets an option win over the environment, and the environment over the default', () => {
    const environment = { COFFER_STORE: '/env', COFFER_MOUNT: 'env', COFFER_ORG: 'env' };
    expect(resolve({}, environment)).toMatchObject({
      storeLocation: '/env',
      mount: 'env',
      organization: 'env',
    });
    expect(resolve({ store: '/flag', mount: '/flag/', org: 'flag' }, environment)).toMatchObject({
      storeLocation: '/flag',
      mount: 'flag',
      organization: 'flag',
    });
    expect(resolve({})).toMatchObject({ mount: 'transit', organization: undefined, address: undefined });
  });

  it('takes an empty variable for one that is not set', () => {
    expect(resolve({}, { COFFER_MOUNT: '', COFFER_ADDR: '', COFFER_TOKEN: '', NO_COLOR: '' })).toMatchObject({
      mount: 'transit',
      address: undefined,
      token: { kind: 'none' },
      colourAllowed: true,
    });
  });

  it('works on the store that an option names even when the environment names a server', () => {
    expect(resolve({ store: '/flag' }, { COFFER_ADDR: 'http://x' }).address).toBeUndefined();
    expect(resolve({}, { COFFER_ADDR: 'http://x', COFFER_STORE: '/env' }).address).toBe('http://x');
  });

  it('takes the server of Vault only where no store is named, nor one is at the usual place', () => {
    const directory = temporaryDirectory();
    const server = { VAULT_ADDR: 'http://x', XDG_DATA_HOME: directory };
    expect(resolve({}, server).address).toBe('http://x');
    expect(resolve({}, { ...server, COFFER_STORE: '/env' }).address).toBeUndefined();
    expect(resolve({ store: '/flag' }, server).address).toBeUndefined();
    expect(resolve({}, { ...server, COFFER_ADDR: 'http://y' }).address).toBe('http://y');
    mkdirSync(join(directory, 'coffer'));
    expect(resolve({}, server).address).toBeUndefined();
    expect(resolve({ address: 'http://z' }, server).address).toBe('http://z');
  });

  it.each([
    [{}, false],
    [{ TERM: 'dumb' }, true],
    [{ LC_ALL: 'C' }, true],
    [{ LC_ALL: 'POSIX' }, true],
    [{ LANG: 'C' }, true],
    [{ LC_CTYPE: 'C.UTF-8', LANG: 'C' }, false],
    [{ LC_ALL: '', LANG: 'C' }, true],
  ])('draws tables with ASCII alone where a terminal may lack more: %j', (environment, isPlain) => {
    expect(resolve({}, environment).plainLines).toBe(isPlain);
  });

  it.each([
    [{}, { COFFER_NO_PROMPT: '1' }, false],
    [{ 'no-prompt': true as const }, {}, false],
    [{}, { COFFER_NO_PROMPT: '' }, true],
  ])('asks nothing if told so by the options %j or the environment %j', (options, environment, mayAsk) => {
    expect(resolve(options, environment).mayAsk).toBe(mayAsk);
  });

  it.each([
    [{}, {}, { kind: 'none' }],
    [{}, { COFFER_TOKEN: 't' }, { kind: 'text', text: 't' }],
    [{ token: 'o' }, { COFFER_TOKEN: 't' }, { kind: 'text', text: 'o' }],
    [{ 'token-file': 'f' }, { COFFER_TOKEN: 't' }, { kind: 'file', path: 'f' }],
    [{ token: true as const }, { COFFER_TOKEN: 't' }, { kind: 'prompt' }],
  ])('finds the token in the options %j and the environment %j', (options, environment, expected) => {
    expect(resolve(options, environment).token).toEqual(expected);
  });

  it.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('allows no colour with %j', (environment) => {
    expect(resolve({}, environment).colourAllowed).toBe(false);
    expect(resolve({ 'no-color': true }).colourAllowed).toBe(false);
    expect(resolve({}).colourAllowed).toBe(true);
  });

  it('takes -o=json as other programs do', () => {
    expect(resolve({ output: '=json' }).format).toBe('json');
  });

  it('refuses a format that there is not', () => {
    const error = thrownBy(() => resolve({ output: 'yaml' }));
    expect(error).toMatchObject({ kind: 'invalid', field: 'output', message: 'invalid value "yaml"' });
  });
});

describe('defaultDirectory', () => {
  it.each([
    ['linux', {}, '/home/ada/.local/share/coffer'],
    ['linux', { XDG_DATA_HOME: '/data' }, '/data/coffer'],
    ['darwin', {}, '/home/ada/Library/Application Support/coffer'],
    ['darwin', { XDG_DATA_HOME: '/data' }, '/data/coffer'],
    ['win32', { LOCALAPPDATA: '/local' }, '/local/coffer'],
    ['win32', {}, '/home/ada/AppData/Local/coffer'],
  ])('is on %s, with the variables %j, the directory %s', (platform, environment, expected) => {
    expect(defaultDirectory({ HOME: '/home/ada', ...environment }, platform)).toBe(expected);
  });

  it.each([{}, { HOME: '' }])('asks the system for the home directory with %j', (environment) => {
    expect(defaultDirectory(environment, 'linux')).toBe(`${userInfo().homedir}/.local/share/coffer`);
  });
});
