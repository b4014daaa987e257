import { describe, expect, it } from 'vitest';
import { LOGIN_METHODS } from '../../src/operations/mount-types.ts';
import { startServer } from '../servers/serving.ts';
import { DirectoryHere } from './directory-here.ts';

/** Path below a login method at which its first object is written, or its configuration, with the parameters. */
const FIRST: Readonly<Record<string, string>> = {
  approle: 'role/deploy token_policies=default',
  cert: 'certs/deploy display_name=x',
  jwt: 'role/deploy user_claim=sub',
  kubernetes: 'role/deploy bound_service_account_names=x',
  oidc: 'role/deploy user_claim=sub',
  userpass: 'users/ada password=correct-horse',
};

/** Returns the commands that a message names. */
const commandsIn = (said: string): readonly string[] =>
  [...said.matchAll(/"coffer ([^"]+)"/g)].map(([, command = '']) => command);

describe('a path of a login method that is not enabled', () => {
  it.each(LOGIN_METHODS)('names the command that enables it: %s', async (method) => {
    const here = await DirectoryHere.withStore();
    const line = `write auth/${method}/${FIRST[method]}`;
    const said = await here.refused(line, 3);
    expect(said).toContain(`(enable the login method with "coffer auth enable ${method}")`);
    await here.ok(commandsIn(said)[0] ?? '');
    expect((await here.run(line)).err).not.toContain('nothing found');
  });

  it.each([
    ['userpass', 'people'],
    ['userpass', 'eu/people'],
    ['cert', 'machines'],
    ['approle', 'ci'],
    ['jwt', 'ci'],
  ])('names the one that has such paths, at the path that was typed: %s at %s', async (method, path) => {
    const here = await DirectoryHere.withStore();
    const line = `write auth/${path}/${FIRST[method]}`;
    const said = await here.refused(line, 3);
    const command = `auth enable ${method} --path ${path}`;
    expect(commandsIn(said)).toContain(command);
    await here.ok(command);
    expect((await here.run(line)).err).not.toContain('nothing found');
  });

  it.each([
    'auth/userpass/nowhere/x',
    'auth/x',
    'auth/token/nowhere/x',
    'auth/ldap/config',
    "auth/a'b/users/x",
  ])('is answered with the list of login methods if none of ours has it: %s', async (path) => {
    const here = await DirectoryHere.withStore();
    expect(await here.refused(`write ${path} a=b`, 3)).toContain(
      'list the login methods with "coffer auth list"',
    );
  });

  it('is answered with the list where another method is enabled', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('auth enable approle --path people');
    expect(await here.refused('write auth/people/users/ada password=x', 3)).toContain(
      'list the login methods with "coffer auth list"',
    );
  });

  it.each([
    ['transit/nonsense/x', 'the mount exists: check the path after it'],
    ['sys/nonsense', 'check the path after sys/'],
    ['nowhere/keys/x', 'list the mounts with "coffer mounts list"'],
  ])('names the part of another path that is wrong: %s', async (path, advice) => {
    const here = await DirectoryHere.withStore();
    expect(await here.refused(`read ${path}`, 3)).toContain(`(${advice})`);
  });

  it('does not call a mount missing whose own path is read, in a store and on a server', async () => {
    const here = await DirectoryHere.withStore();
    const { address, token } = await startServer();
    const said =
      'coffer: nothing found at transit (the path must go on after the mount, e.g. transit/keys: list';
    for (const environment of [{}, { COFFER_ADDR: address, COFFER_TOKEN: token }])
      for (const verb of ['list', 'read'])
        expect(await here.refused(`${verb} transit`, 3, { environment })).toContain(said);
  });
});
