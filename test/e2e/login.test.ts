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
  await owner.ok('transit keys create orders');
  writeFileSync(owner.file('app.hcl'), 'path "transit/encrypt/orders" { capabilities = ["update"] }');
  await owner.ok('policy write app app.hcl');
  await owner.ok('auth enable userpass');
  await owner.ok('auth enable userpass --path people');
  await owner.ok('auth enable approle');
  await owner.ok('auth userpass write ada --token-policies app --token-ttl 1h -', { input: PASSWORD });
  await owner.ok('auth userpass write ada --path people --token-policies app --token-ttl 2s -', {
    input: PASSWORD,
  });
  await owner.ok('auth userpass write bea --path people --token-policies app --token-ttl 1h -', {
    input: PASSWORD,
  });
  await owner.ok('auth approle write deploy --token-policies app');
  roleId = await owner.ok('auth approle role-id deploy');
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
const logIn = (): Promise<string> => user.ok('login userpass username=ada password=-', { input: PASSWORD });
const encrypts = async (place: Place): Promise<number | null> =>
  (await place.run('transit encrypt orders x')).exitCode;

describe('coffer login', () => {
  it('keeps the token where only this user can read it, and later commands for the address find it', async () => {
    expect(await encrypts(user)).toBe(4);
    expect(await logIn()).toBe('');
    expect(keptFiles()).toHaveLength(1);
    for (const path of keptFiles()) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(logins()).mode & 0o777).toBe(0o700);
    expect(await encrypts(user)).toBe(0);
    expect(await user.json('token lookup')).toMatchObject({ path: 'auth/userpass/login/ada' });
    expect(await encrypts(user.with({ COFFER_ADDR: `${address}/` }))).toBe(0);
    expect(
      (await user.with({ COFFER_ADDR: address.replace('127.0.0.1', 'localhost') }).run('token lookup'))
        .stderr,
    ).toContain('no token given: use "coffer login"');
  });

  it('stands behind the variables, and before what "vault login" left', async () => {
    await logIn();
    writeFileSync(user.file('.vault-token'), 's.nobody', { mode: 0o600 });
    expect(await encrypts(user)).toBe(0);
    expect(await encrypts(user.with({ VAULT_TOKEN: 's.nobody' }))).toBe(4);
    expect(await encrypts(user.with({ COFFER_TOKEN: 's.nobody' }))).toBe(4);
    expect(
      (
        await user
          .with({ VAULT_TOKEN: 's.x' })
          .run('login userpass username=ada password=-', { input: PASSWORD })
      ).stderr,
    ).toBe('coffer: warning: VAULT_TOKEN is set and takes precedence over the stored token\n');
  });

  it('prints the token or another member when asked, and keeps nothing with --no-store', async () => {
    const line = 'login userpass username=ada password=-';
    const token = await user.ok(`${line} --no-store`, { input: PASSWORD });
    expect(() => readdirSync(logins())).toThrow('ENOENT');
    expect(await encrypts(user.with({ COFFER_TOKEN: token }))).toBe(0);
    for (const how of ['--field token', '-o raw']) {
      expect(await user.ok(`${line} ${how}`, { input: PASSWORD })).toMatch(/^cfr\.[\w-]{40,}$/);
    }
    expect(await user.ok(`${line} --field lease_duration`, { input: PASSWORD })).toBe('3600');
    expect(await user.json(line, { input: PASSWORD })).toMatchObject({
      policies: ['app', 'default'],
      metadata: { username: 'ada' },
    });
    expect((await user.run(`${line} --field nothing`, { input: PASSWORD })).exitCode).toBe(3);
  });

  it('takes secrets from private files and standard input, and never as arguments', async () => {
    const secret = await owner.ok(
      'write -f auth/approle/role/deploy/secret-id --field secret_id'.replace('-f ', ''),
    );
    const line = `login approle role_id=${roleId}`;
    expect(await user.refused(`${line} secret_id=${secret}`, 2)).toBe(
      'coffer: secret_id: secrets cannot be passed as arguments: other users could see them (use secret_id=@FILE to read it from a file, secret_id=- for standard input, or omit it to be prompted)',
    );
    writeFileSync(user.file('secret'), `${secret}\n`, { mode: 0o600 });
    await user.ok(`${line} secret_id=@secret`);
    expect(await user.json('token lookup')).toMatchObject({ meta: { role_name: 'deploy' } });
    chmodSync(user.file('secret'), 0o644);
    const refused = await user.refused(`${line} secret_id=@secret`, 1);
    expect(refused).toContain('can be read by others');
    expect(refused).toContain(
      'if the mode of the file cannot be changed, pipe the secret in: secret_id=- < secret)',
    );
    expect(await user.refused('login userpass username=ada', 2)).toContain('cannot prompt for the password');
    expect(await user.refused('login userpass password=-', 2)).toContain('missing username');
  });

  it('logs in at mounts elsewhere, by --path, and says what went wrong', async () => {
    await user.ok('login --method userpass --path auth/people/ username=bea password=-', { input: PASSWORD });
    expect(await user.json('token lookup')).toMatchObject({ path: 'auth/people/login/bea' });
    expect(await user.refused('login userpass username=ada password=-', 4, { input: 'wrong' })).toContain(
      'invalid username or password',
    );
    expect(await user.refused('login ldap username=ada', 2)).toContain(
      'use one of token, approle, cert, jwt, userpass',
    );
    expect(await user.refused('login jwt role=app', 2)).toContain(
      'use jwt=@FILE or jwt=-, or set COFFER_ID_TOKEN',
    );
    expect(await user.with({ COFFER_ADDR: undefined }).refused('login userpass username=ada', 2)).toContain(
      'no server address: you are using the local store, which needs no login',
    );
  });

  it('says of a token that has ended how to get another', async () => {
    await user.ok('login userpass --path people username=ada password=-', { input: PASSWORD });
    // The server's second may end before ours, and the token then is called no longer good.
    await vi.waitFor(
      async () =>
        expect(await user.refused('transit encrypt orders x', 4)).toMatch(
          /the stored token expired at \S+: run "coffer login userpass --path people username=ada"\)$/,
        ),
      { timeout: 20_000, interval: 200 },
    );
    await logIn();
    const { accessor } = (await user.json('token lookup')) as { accessor: string };
    await owner.ok(`token revoke ${accessor} --yes`);
    expect(await user.refused('transit encrypt orders x', 4)).toContain(
      'the stored token is no longer valid: run "coffer login userpass username=ada"',
    );
  });

  it('leaves it at what a policy says when the token is good', async () => {
    await logIn();
    expect(await user.refused('transit decrypt orders vault:v1:x', 4)).toContain(
      'grant "update" on transit/decrypt/orders',
    );
  });

  it('has the runner of GitHub hide the token, beside what is printed', async () => {
    const job = user.with({ GITHUB_ACTIONS: 'true' });
    const { stdout, stderr } = await job.run('login userpass username=ada password=- --no-store', {
      input: PASSWORD,
    });
    expect(stderr).toBe(`::add-mask::${stdout}`);
  });

  it('refuses a file that others may read, and tells one that it has not written', async () => {
    await logIn();
    const [path = ''] = keptFiles();
    chmodSync(path, 0o644);
    expect(await user.refused('transit encrypt orders x', 1)).toContain(`run "chmod 600 ${path}"`);
    writeFileSync(path, '{}');
    chmodSync(path, 0o600);
    expect(await user.refused('transit encrypt orders x', 1)).toContain('was not written by "coffer login"');
    await user.ok('logout');
    expect(keptFiles()).toEqual([]);
  });
});

describe('coffer logout', () => {
  it('forgets a batch token, and says that nobody can end it', async () => {
    await owner.ok('auth approle write jobs --token-policies app --token-type batch --token-ttl 5m');
    const jobsId = await owner.ok('auth approle role-id jobs');
    const secretId = await owner.ok('auth approle secret-id jobs');
    await user.ok(`login approle role_id=${jobsId} secret_id=-`, { input: secretId });
    expect(await user.json('token lookup')).toMatchObject({ type: 'batch', renewable: false });
    expect(await encrypts(user)).toBe(0);
    await user.ok('logout');
    expect(await encrypts(user)).toBe(4);
  });

  it('ends the token that the login has made, and forgets it', async () => {
    await logIn();
    const [path = ''] = keptFiles();
    const { token } = JSON.parse(readFileSync(path, 'utf8')) as { token: string };
    expect(await user.ok('logout')).toBe('');
    expect(keptFiles()).toEqual([]);
    expect(await encrypts(user.with({ COFFER_TOKEN: token }))).toBe(4);
    await user.ok('logout');
  });

  it('only forgets a token that was brought along, unless it is told to end it', async () => {
    const token = await owner.ok('token create --policy app --ttl 1h');
    await user.ok('login token=-', { input: token });
    expect(await encrypts(user)).toBe(0);
    await user.ok('logout');
    expect(await encrypts(user.with({ COFFER_TOKEN: token }))).toBe(0);
    await user.ok(['login', '--token', token]);
    await user.ok('logout --revoke');
    expect(await encrypts(user.with({ COFFER_TOKEN: token }))).toBe(4);
    expect(await user.refused('login token=-', 4, { input: token })).toContain(
      'the server rejected the token: unknown or expired',
    );
  });

  it('keeps the token where the server can not be reached, unless it is only to be forgotten', async () => {
    await logIn();
    const nowhere = 'http://127.0.0.1:1';
    const path = join(logins(), hash('sha256', nowhere).slice(0, 32));
    cpSync(keptFiles()[0] ?? '', path);
    const gone = user.with({ COFFER_ADDR: nowhere });
    expect(await gone.refused('logout', 1)).toContain('retry, or delete it with --no-revoke');
    expect(keptFiles()).toContain(path);
    await gone.ok('logout --no-revoke');
    expect(keptFiles()).not.toContain(path);
    expect(await encrypts(user)).toBe(0);
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
      /Logged in to http:\/\/\S+ until \d{4}-\d\d-\d\d\s[\d:]{8}\.\sPolicies:\sapp,\sdefault\.\n.*service:v1:/s,
    );
    expect(text).not.toContain(PASSWORD);
  });

  it('asks for a token where no method is named', async () => {
    const token = await owner.ok('token create --policy app --ttl 1h');
    const { text, exitCode } = onTerminal(user, 'coffer login && coffer logout', {
      steps: [['Token', `${token}\r`]],
    });
    expect({ exitCode, isShown: text.includes(token) }).toEqual({ exitCode: 0, isShown: false });
    expect(text).toMatch(/Logged in to .*\n.*Logged out of /s);
  });

  it('asks twice for the password of a new user', async () => {
    const { text, exitCode } = onTerminal(owner, 'coffer auth userpass write bob --token-policies app', {
      steps: [
        ['Password', `${PASSWORD}\r`],
        ['Once more', `${PASSWORD}\r`],
      ],
    });
    expect({ exitCode, isShown: text.includes(PASSWORD) }).toEqual({ exitCode: 0, isShown: false });
    expect(text).toContain('Saved user bob.');
    await user.ok('login userpass username=bob password=-', { input: PASSWORD });
    const again = onTerminal(owner, 'coffer auth userpass write bob --token-ttl 2h', {
      steps: [['Password', '\r']],
    });
    expect(again.exitCode).toBe(0);
    await user.ok('login userpass username=bob password=-', { input: PASSWORD });
  });
});
