import { hash } from 'node:crypto';
import { chmodSync, cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { emptyPlace, type Place, removePlace } from './harness.ts';
import { server } from './server.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

const PASSWORD = 'correct horse';

let running: Awaited<ReturnType<typeof server.start>>;
/** Somebody with a token that may do everything. */
let owner: Place;
/** Somebody with nothing but the address; each test has a home of its own. */
let user: Place;
let address = '';
let roleId = '';

beforeAll(async () => {
  running = await server.start();
  owner = running.place;
  address = owner.environment()['COFFER_ADDR'] ?? '';
  owner.ok('transit keys create orders');
  writeFileSync(owner.file('app.hcl'), 'path "transit/encrypt/orders" { capabilities = ["update"] }');
  owner.ok('policy write app app.hcl');
  owner.ok('auth enable userpass');
  owner.ok('auth enable userpass --path people');
  owner.ok('auth enable approle');
  owner.ok('auth userpass write ada --token-policies app --token-ttl 1h -', { input: PASSWORD });
  owner.ok('auth userpass write ada --path people --token-policies app --token-ttl 2s -', {
    input: PASSWORD,
  });
  owner.ok('auth userpass write bea --path people --token-policies app --token-ttl 1h -', {
    input: PASSWORD,
  });
  owner.ok('auth approle write deploy --token-policies app');
  roleId = owner.ok('auth approle role-id deploy');
});

afterAll(() => running.stop());

const homes: Place[] = [];
afterAll(() => homes.forEach(removePlace));

beforeEach(() => {
  user = emptyPlace({ COFFER_STORE: undefined, COFFER_ADDR: address });
  homes.push(user);
});

const logins = (): string => join(user.directory, '.local/state/coffer/logins');
const keptFiles = (): string[] => readdirSync(logins()).map((name) => join(logins(), name));
const logIn = (): string => user.ok('login userpass username=ada password=-', { input: PASSWORD });
const encrypts = (place: Place): number | null => place.run('transit encrypt orders x').exitCode;

describe('coffer login', () => {
  it('keeps the token where only this user can read it, and later commands for the address find it', () => {
    expect(encrypts(user)).toBe(4);
    expect(logIn()).toBe('');
    expect(keptFiles()).toHaveLength(1);
    for (const path of keptFiles()) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(logins()).mode & 0o777).toBe(0o700);
    expect(encrypts(user)).toBe(0);
    expect(user.json('token lookup')).toMatchObject({ path: 'auth/userpass/login/ada' });
    expect(encrypts(user.with({ COFFER_ADDR: `${address}/` }))).toBe(0);
    expect(
      user.with({ COFFER_ADDR: address.replace('127.0.0.1', 'localhost') }).run('token lookup').stderr,
    ).toContain('no token was given: use "coffer login"');
  });

  it('stands behind the variables, and before what "vault login" left', () => {
    logIn();
    writeFileSync(user.file('.vault-token'), 's.nobody', { mode: 0o600 });
    expect(encrypts(user)).toBe(0);
    expect(encrypts(user.with({ VAULT_TOKEN: 's.nobody' }))).toBe(4);
    expect(encrypts(user.with({ COFFER_TOKEN: 's.nobody' }))).toBe(4);
    expect(
      user.with({ VAULT_TOKEN: 's.x' }).run('login userpass username=ada password=-', { input: PASSWORD })
        .stderr,
    ).toBe('coffer: warning: VAULT_TOKEN is set, and goes before the token that was kept now\n');
  });

  it('prints the token or another member when asked, and keeps nothing with --no-store', () => {
    const line = 'login userpass username=ada password=-';
    const token = user.ok(`${line} --no-store`, { input: PASSWORD });
    expect(() => readdirSync(logins())).toThrow('ENOENT');
    expect(encrypts(user.with({ COFFER_TOKEN: token }))).toBe(0);
    for (const how of ['--field token', '-o raw']) {
      expect(user.ok(`${line} ${how}`, { input: PASSWORD })).toMatch(/^cfr\.[\w-]{40,}$/);
    }
    expect(user.ok(`${line} --field lease_duration`, { input: PASSWORD })).toBe('3600');
    expect(user.json(line, { input: PASSWORD })).toMatchObject({
      policies: ['app', 'default'],
      metadata: { username: 'ada' },
    });
    expect(user.run(`${line} --field nothing`, { input: PASSWORD }).exitCode).toBe(3);
  });

  it('takes secrets from private files and standard input, and never as arguments', () => {
    const secret = owner.ok(
      'write -f auth/approle/role/deploy/secret-id --field secret_id'.replace('-f ', ''),
    );
    const line = `login approle role_id=${roleId}`;
    expect(user.refused(`${line} secret_id=${secret}`, 2)).toBe(
      'coffer: secret_id: not as an argument, which others on the machine can read (give secret_id=@FILE or secret_id=-, or leave it out to be asked)',
    );
    writeFileSync(user.file('secret'), `${secret}\n`, { mode: 0o600 });
    user.ok(`${line} secret_id=@secret`);
    expect(user.json('token lookup')).toMatchObject({ meta: { role_name: 'deploy' } });
    chmodSync(user.file('secret'), 0o644);
    expect(user.refused(`${line} secret_id=@secret`, 1)).toContain('can be read by others');
    expect(user.refused('login userpass username=ada', 2)).toContain(
      'there is nobody to ask for the password',
    );
    expect(user.refused('login userpass password=-', 2)).toContain('missing username');
  });

  it('logs in at mounts elsewhere, by --path, and says what went wrong', () => {
    user.ok('login --method userpass --path auth/people/ username=bea password=-', { input: PASSWORD });
    expect(user.json('token lookup')).toMatchObject({ path: 'auth/people/login/bea' });
    expect(user.refused('login userpass username=ada password=-', 2, { input: 'wrong' })).toContain(
      'invalid username or password',
    );
    expect(user.refused('login ldap username=ada', 2)).toContain(
      'use one of token, userpass, approle, jwt, cert',
    );
    expect(user.refused('login jwt role=app', 2)).toContain(
      'give jwt=@FILE or jwt=-, or set COFFER_ID_TOKEN',
    );
    expect(user.with({ COFFER_ADDR: undefined }).refused('login userpass username=ada', 2)).toContain(
      'there is no server to log in to',
    );
  });

  it('says of a token that has ended how to get another', async () => {
    user.ok('login userpass --path people username=ada password=-', { input: PASSWORD });
    // The server's second may end before ours, and the token then is called no longer good.
    await vi.waitFor(
      () =>
        expect(user.refused('transit encrypt orders x', 4)).toMatch(
          /the token of "coffer login" ended at \S+: log in again with "coffer login userpass --path people username=ada"\)$/,
        ),
      { timeout: 20_000, interval: 200 },
    );
    logIn();
    const { accessor } = user.json('token lookup') as { accessor: string };
    owner.ok(`token revoke ${accessor} --yes`);
    expect(user.refused('transit encrypt orders x', 4)).toContain(
      'the token of "coffer login" is no longer good: log in again with "coffer login userpass username=ada"',
    );
  });

  it('leaves it at what a policy says when the token is good', () => {
    logIn();
    expect(user.refused('transit decrypt orders vault:v1:x', 4)).toContain(
      'grants "update" on transit/decrypt/orders',
    );
  });

  it('has the runner of GitHub hide the token, beside what is printed', () => {
    const job = user.with({ GITHUB_ACTIONS: 'true' });
    const { stdout, stderr } = job.run('login userpass username=ada password=- --no-store', {
      input: PASSWORD,
    });
    expect(stderr).toBe(`::add-mask::${stdout}`);
  });

  it('refuses a file that others may read, and tells one that it has not written', () => {
    logIn();
    const [path = ''] = keptFiles();
    chmodSync(path, 0o644);
    expect(user.refused('transit encrypt orders x', 1)).toContain(`run "chmod 600 ${path}"`);
    writeFileSync(path, '{}');
    chmodSync(path, 0o600);
    expect(user.refused('transit encrypt orders x', 1)).toContain('is not what "coffer login" wrote');
    user.ok('logout');
    expect(keptFiles()).toEqual([]);
  });
});

describe('coffer logout', () => {
  it('forgets a batch token, and says that nobody can end it', () => {
    owner.ok('auth approle write jobs --token-policies app --token-type batch --token-ttl 5m');
    const jobsId = owner.ok('auth approle role-id jobs');
    const secretId = owner.ok('auth approle secret-id jobs');
    user.ok(`login approle role_id=${jobsId} secret_id=-`, { input: secretId });
    expect(user.json('token lookup')).toMatchObject({ type: 'batch', renewable: false });
    expect(encrypts(user)).toBe(0);
    user.ok('logout');
    expect(encrypts(user)).toBe(4);
  });

  it('ends the token that the login has made, and forgets it', () => {
    logIn();
    const [path = ''] = keptFiles();
    const { token } = JSON.parse(readFileSync(path, 'utf8')) as { token: string };
    expect(user.ok('logout')).toBe('');
    expect(keptFiles()).toEqual([]);
    expect(encrypts(user.with({ COFFER_TOKEN: token }))).toBe(4);
    user.ok('logout');
  });

  it('only forgets a token that was brought along, unless it is told to end it', () => {
    const token = owner.ok('token create --policy app --ttl 1h');
    user.ok('login token=-', { input: token });
    expect(encrypts(user)).toBe(0);
    user.ok('logout');
    expect(encrypts(user.with({ COFFER_TOKEN: token }))).toBe(0);
    user.ok(['login', '--token', token]);
    user.ok('logout --revoke');
    expect(encrypts(user.with({ COFFER_TOKEN: token }))).toBe(4);
    expect(user.refused('login token=-', 4, { input: token })).toContain(
      'the server does not know this token',
    );
  });

  it('keeps the token where the server can not be reached, unless it is only to be forgotten', () => {
    logIn();
    const nowhere = 'http://127.0.0.1:1';
    const path = join(logins(), hash('sha256', nowhere).slice(0, 32));
    cpSync(keptFiles()[0] ?? '', path);
    const gone = user.with({ COFFER_ADDR: nowhere });
    expect(gone.refused('logout', 1)).toContain('try again, or forget it with --no-revoke');
    expect(keptFiles()).toContain(path);
    gone.ok('logout --no-revoke');
    expect(keptFiles()).not.toContain(path);
    expect(encrypts(user)).toBe(0);
  });
});

describe.skipIf(!canUseTerminals)('coffer login on a terminal', () => {
  it('asks for the password, and shows nothing of it', () => {
    const { text, exitCode } = onTerminal(
      user,
      'coffer login userpass username=ada && coffer transit encrypt orders x',
      {
        steps: [['Password', `${PASSWORD}\r`]],
      },
    );
    expect(exitCode).toBe(0);
    expect(text).toMatch(
      /Logged in to http:\/\/\S+ until \S+, with the policies app, default\.\n.*service:v1:/s,
    );
    expect(text).not.toContain(PASSWORD);
  });

  it('asks for a token where no method is named', () => {
    const token = owner.ok('token create --policy app --ttl 1h');
    const { text, exitCode } = onTerminal(user, 'coffer login && coffer logout', {
      steps: [['Token', `${token}\r`]],
    });
    expect({ exitCode, isShown: text.includes(token) }).toEqual({ exitCode: 0, isShown: false });
    expect(text).toMatch(/Logged in to .*\n.*Logged out of /s);
  });

  it('asks twice for the password of a new user', () => {
    const { text, exitCode } = onTerminal(owner, 'coffer auth userpass write bob --token-policies app', {
      steps: [
        ['Password', `${PASSWORD}\r`],
        ['Once more', `${PASSWORD}\r`],
      ],
    });
    expect({ exitCode, isShown: text.includes(PASSWORD) }).toEqual({ exitCode: 0, isShown: false });
    expect(text).toContain('Wrote the user bob.');
    user.ok('login userpass username=bob password=-', { input: PASSWORD });
    const again = onTerminal(owner, 'coffer auth userpass write bob --token-ttl 2h', {
      steps: [['Password', '\r']],
    });
    expect(again.exitCode).toBe(0);
    user.ok('login userpass username=bob password=-', { input: PASSWORD });
  });
});
