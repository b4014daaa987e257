import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { typedAt } from './typed.ts';

/* The first steps with logins, in every wrong order that somebody new to them takes. */

let bare: Place;
let here: Place;
beforeAll(async () => {
  bare = emptyPlace();
  here = bare.with({ COFFER_MASTER_KEY: MASTER_KEY, NO_COLOR: '1' });
  await here.ok('init');
});
afterAll(() => removePlace(bare));

/** Runs a command as if typed at a terminal, in this process. */
const typed = (line: string, answers: readonly (string | boolean)[] = [], place = here) =>
  typedAt(place, line, { answers, columns: 500 });

describe('a user of a login method that is not enabled', () => {
  it.each([
    ['auth userpass write ada --token-policies clerk', 'coffer auth enable userpass'],
    ['auth userpass write ada --path people', 'coffer auth enable userpass --path people'],
    ['auth userpass password ada', 'coffer auth enable userpass'],
  ])('is refused before the password is asked for, with the command to run: %s', async (line, command) => {
    expect(await typed(line)).toMatchObject({
      exitCode: 3,
      asked: [],
      stderr: expect.stringContaining(`(enable it with "${command}")`),
    });
  });

  it('is refused with the same words in a script', async () => {
    expect(await here.refused('auth userpass write ada --in -', 3, { input: 'correct horse' })).toBe(
      'coffer: no login method at "auth/userpass" (enable it with "coffer auth enable userpass")',
    );
  });
});

describe('auth enable', () => {
  it('says that a method is needed, which there are, and shows an example', async () => {
    const refused = await here.refused('auth enable', 2);
    expect(refused).toMatch(/^coffer: missing required argument 'METHOD' \(use one of approle, cert, /);
    expect(refused).toContain('usage: coffer auth enable METHOD, e.g. "coffer auth enable ');
  });

  it('calls an unknown method an unknown login method', async () => {
    expect(await here.refused('auth enable github', 2)).toMatch(
      /^coffer: METHOD: unknown login method "github" \(use one of approle, /,
    );
  });

  it('says of a method that is enabled that it is, and how to have a second one', async () => {
    await here.ok('auth enable userpass');
    expect(await here.refused('auth enable userpass', 6)).toBe(
      'coffer: userpass is already enabled at userpass/ (use --path for another one)',
    );
    expect(await here.refused('auth enable approle --path userpass', 6)).toContain(
      'userpass is already enabled at userpass/',
    );
  });
});

describe('a policy that does not exist', () => {
  const warning = (policy: string, hint = `create it with "coffer policy write ${policy} FILE"`) =>
    `coffer: warning: the policy "${policy}" does not exist, and grants nothing until it does (${hint})\n`;

  it('is warned of on a terminal when a user or a role gets it', async () => {
    await here.ok('auth enable approle');
    const line = 'auth userpass write ada --token-policies clark,default';
    expect(await typed(line, ['correct horse', 'correct horse'])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(warning('clark')),
    });
    const role = await typed('auth approle write deploy --token-policies deploi');
    expect(role.stderr).toContain(warning('deploi'));
  });

  it('is warned of with the policy that was probably meant, also for a new token', async () => {
    await here.ok('policy write encrypt-only', { input: 'path "x" { capabilities = ["read"] }' });
    const near = warning('encrypt-onl', 'did you mean "encrypt-only"?');
    const role = await typed('auth approle write deploy --token-policies encrypt-onl');
    expect(role.stderr).toContain(near);
    const token = await typed('token create --policy encrypt-onl --policy zebra');
    expect(token.stderr).toContain(near);
    expect(token.stderr).toContain(warning('zebra'));
    expect(await here.run('token create --policy encrypt-onl')).toMatchObject({ exitCode: 0, stderr: near });
  });

  it('has the words of the API in the JSON of Vault, which programs read', async () => {
    const made = await here.run('token create -policy=encrypt-onl -format=json');
    expect(JSON.parse(made.stdout)).toMatchObject({ warnings: ['Policy "encrypt-onl" does not exist'] });
    const shown = await typed('token create -policy=encrypt-onl -format=json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ warnings: ['Policy "encrypt-onl" does not exist'] });
  });

  it('is no policy with a comma in its name: two were meant, and the options for them are named', async () => {
    expect(await here.run('token create --policy=encrypt-only,default')).toMatchObject({
      exitCode: 0,
      stderr:
        'coffer: warning: a policy cannot be named "encrypt-only,default" ' +
        '(use --policy encrypt-only --policy default)\n',
    });
  });

  it('is nothing that scripts are told of, and one that exists is not warned of', async () => {
    expect(await here.run('auth approle write deploy --token-policies deploi')).toMatchObject({ stderr: '' });
    const role = await typed('auth approle write deploy --token-policies default');
    expect(role.stderr).not.toContain('warning');
  });
});

describe('coffer login', () => {
  const nowhere = () => bare.with({ COFFER_ADDR: 'http://127.0.0.1:1' });

  it('asks for the user name and then for the password', async () => {
    const { asked } = await typed('login userpass', ['ada', 'correct horse'], nowhere());
    expect(asked).toEqual(['Username', 'Password']);
    expect((await typed('login approle', ['deploy', ''], nowhere())).asked).toEqual(['Role id', 'Secret ID']);
  });

  it('refuses a user name with a slash that was asked for, and an empty one', async () => {
    expect((await typed('login userpass', ['a/b'], nowhere())).stderr).toContain('must not contain "/"');
    expect((await typed('login userpass', [''], nowhere())).stderr).toContain('missing username');
  });

  it('names the argument that is no login method, and how a user logs in', async () => {
    const refused = await nowhere().refused('login ada', 2);
    expect(refused).toMatch(/^coffer: METHOD: unknown login method "ada" \(use one of token, /);
    expect(refused).toContain('users log in with "coffer login userpass username=NAME"');
    expect(await nowhere().refused('login --method ada', 2)).toMatch(/^coffer: --method: unknown/);
  });

  it.each([
    'login cfr.btDr5R5yKq3T0Zx8',
    'login token cfr.btDr5R5yKq3T0Zx8',
    'login --method cfr.btDr5R5yKq3T0Zx8',
    'login cfr.btDr5R5yKq3T0Zx8 --method token',
    'login 0123456789abcdefABCDEF',
  ])('refuses a token among the arguments without repeating it: %s', async (line) => {
    expect(await nowhere().refused(line, 2)).toBe(
      'coffer: a token cannot be passed as an argument: other users could see it (pipe it in, e.g. printf %s "$TOKEN" | coffer login token=-, or omit it to be prompted)',
    );
  });
});

describe('an argument that only some callers may omit', () => {
  it.each([
    ['workspaces delete', 'WS', 'coffer workspaces delete'],
    ['token renew', 'ID', 'coffer token renew ID'],
  ])('is a missing argument like any other, with usage and example: %s', async (line, name, usage) => {
    const refused = await here.refused(line.concat(line.endsWith('delete') ? ' --yes' : ''), 2);
    expect(refused).toContain(`coffer: missing required argument '${name}' (usage: ${usage}`);
    expect(refused).toContain(`see "coffer ${line} --help"`);
  });
});

describe('words of other programs', () => {
  it.each([
    [
      'whoami',
      'use "coffer token lookup" with a server, "coffer status" with a local store, which has no users',
    ],
    ['password', 'did you mean "coffer passphrase change"?'],
  ])('bring up the command with that meaning: %s', async (word, hint) => {
    expect(await here.refused(word, 2)).toContain(hint);
  });
});

describe('an error about a server', () => {
  it('speaks of what the command does when no server is named', async () => {
    expect(await here.refused('health', 2)).not.toContain('sealed');
    expect(await here.refused('seal', 2)).toContain('only a server can be sealed or unsealed');
  });
});
