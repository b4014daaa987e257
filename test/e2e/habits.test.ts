import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServerProcess } from '../servers/server-process.ts';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

/* What users of other programs type. */

let here: Place;
beforeAll(async () => {
  here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY });
  await here.ok('init');
});
afterAll(() => removePlace(here));

describe('a user of vault', () => {
  it('writes and reads paths with options that have one dash', async () => {
    await here.ok('write -f transit/keys/orders');
    expect(await here.ok('read -field=type transit/keys/orders')).toBe('aes256-gcm96');
    expect(await here.ok('read -format=table transit/keys/orders')).toMatch(/^Field +Value\n/);
    expect(await here.ok('list -format=wide transit/keys')).toContain('orders');
    expect(await here.refused('read -format=jsn transit/keys/orders', 2)).toContain('did you mean "json"?');
  });

  it('gets from -format=json what vault prints, and from -o json the result alone', async () => {
    const response = JSON.parse(await here.ok('read -format=json transit/keys/orders'));
    const data = JSON.parse(await here.ok('read -o json transit/keys/orders'));
    expect(response).toEqual({
      request_id: '',
      lease_id: '',
      lease_duration: 0,
      renewable: false,
      data,
      warnings: null,
    });
    expect(data.latest_version).toBe(1);
    expect(JSON.parse(await here.ok('list -format=json transit/keys'))).toEqual(['orders']);
    expect(JSON.parse(await here.ok('list -o json transit/keys'))).toEqual({ keys: ['orders'] });
    expect(await here.ok('read -format=json -field=type transit/keys/orders')).toBe('"aes256-gcm96"');
    expect(await here.refused('read -format=json -field=nothing transit/keys/orders', 3)).toContain(
      '"nothing"',
    );
    writeFileSync(here.file('none.json'), JSON.stringify({ policy: 'path "x" { capabilities = ["read"] }' }));
    expect(await here.ok('write -format=json sys/policies/acl/none @none.json')).toBe('');
    expect(await here.refused('write sys/policies/acl/none policy= ttl=1h', 2)).toContain(
      'ttl cannot be set: policies do not expire',
    );
    const ciphertext = JSON.parse(await here.ok('write -format=json transit/encrypt/orders plaintext=aGk='));
    expect(ciphertext.data.ciphertext).toMatch(/^service:v1:/);
    const token = JSON.parse(await here.ok('write -format=json auth/token/create ttl=1h'));
    expect(token).toMatchObject({
      data: null,
      auth: { client_token: expect.any(String), lease_duration: 3600 },
    });
  });

  it('gets the envelope of vault from token create, lookup and renew with -format=json', async () => {
    const lease = { request_id: '', lease_id: '', lease_duration: 0, renewable: false, warnings: null };
    const created = JSON.parse(await here.ok('token create -policy=default -ttl=1h -format=json'));
    expect(created).toEqual({ ...lease, data: null, auth: expect.any(Object) });
    expect(created.auth).toMatchObject({ client_token: expect.any(String), lease_duration: 3600 });
    const { accessor } = created.auth;
    const lookup = JSON.parse(await here.ok(`token lookup --format json ${accessor}`));
    expect(lookup).toEqual({ ...lease, data: expect.objectContaining({ accessor }) });
    const renewed = JSON.parse(await here.ok(`token renew -format=json ${accessor}`));
    expect(renewed).toEqual({ ...lease, data: null, auth: expect.objectContaining({ accessor }) });
    expect(Object.keys(JSON.parse(await here.ok('token create -o json')))).toContain('client_token');
    expect(await here.ok(`token lookup -field=accessor ${accessor}`)).toBe(accessor);
    expect(await here.ok('token create -field=token')).toMatch(/^cfr\.\S+$/);
  });

  it.each(['json', 'table', 'wide', 'raw'])(
    'gets one field alone with -o %s, and no token beside it',
    async (form) => {
      for (const command of [
        'token create -field=accessor',
        'write -field=accessor auth/token/create ttl=1h',
      ]) {
        const printed = await here.ok(`${command} -o ${form}`);
        expect(printed).toMatch(/[0-9a-f]{40}/);
        expect(printed).not.toContain('cfr.');
      }
      const policies = await here.ok(`token create -policy=default -field=policies -o ${form}`);
      expect(policies).toContain('default');
      expect(policies).not.toContain('cfr.');
    },
  );

  it('gets the envelope of vault from login, and uses its own token with -self', async () => {
    const running = await startServerProcess([binary, 'serve', '--listen', '127.0.0.1:0', '-q'], {
      directory: here.directory,
      environment: here.environment(),
    });
    try {
      const token = await here.ok('token create -policy=default -field=token');
      const there = here.with({
        COFFER_ADDR: running.address,
        COFFER_STORE: undefined,
        COFFER_TOKEN: token,
      });
      const login = JSON.parse(await there.ok('login -method=token -no-store -format=json'));
      const { data } = JSON.parse(await there.ok('token lookup -self -format=json'));
      expect(data.id).toBe(token);
      expect(login).toMatchObject({
        data: null,
        auth: { client_token: token, accessor: data.accessor, policies: data.policies },
      });
      for (const form of ['-o json', '-o table', '-format=table', '-format=json', '-o raw']) {
        const accessor = await there.ok(`login -method=token -no-store -field=accessor ${form}`);
        expect(accessor).toContain(data.accessor);
        expect(accessor).not.toContain(token);
      }
      expect(JSON.parse(await there.ok('token renew -self -format=json')).auth.client_token).toBe(token);
      await there.ok('token revoke -self');
      expect(await there.refused('token lookup -self', 4)).toContain('expired, revoked');
    } finally {
      await running.stop();
    }
  });

  it('gets no token whose field it mistyped, and no token stays behind', async () => {
    const before = await here.ok('token list');
    expect(await here.refused('token create -field=nothing', 1)).toContain(
      'the result has no field "nothing"; the token was revoked',
    );
    expect(await here.ok('token list')).toBe(before);
  });

  it.each([
    ['token lookup -self', '(commands on a local store run without a token: give the ID of a token)'],
    ['token revoke -self abc', '--self cannot be used with ID'],
    ['token create --copy -field=accessor', '--copy cannot be used with --field'],
    ['token create --copy -format=json', '--copy cannot be used with --format'],
    ['token lookup -accessor abc', '"coffer token lookup ID" takes an accessor as well'],
    ['token revoke -mode=path auth/x', 'did you mean "coffer token revoke-prefix PREFIX"?'],
    ['read -wrap-ttl=60s transit/keys/orders', 'the header "X-Vault-Wrap-TTL: 60s"'],
    ['token create -wrap-ttl=60s', '"coffer unwrap" unwraps the response'],
  ])('is told what to do instead: %s', async (line, said) => {
    expect(await here.refused(line, 2)).toContain(said);
  });

  it('gets from -format=json the members that a server leaves out, as vault prints them', async () => {
    const server = createServer((_, answer) => {
      answer.setHeader('content-type', 'application/json');
      answer.end('{"data":{"a":"b"},"lease_duration":7}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const there = here.with({ COFFER_ADDR: `http://127.0.0.1:${port}`, COFFER_STORE: undefined });
    const printed = await there.ok('read -format=json other/path').finally(() => server.close());
    const lease = { lease_id: '', lease_duration: 7, renewable: false };
    expect(JSON.parse(printed)).toEqual({ request_id: '', ...lease, data: { a: 'b' }, warnings: null });
  });

  it('is warned that a key already existed, whose type stays as it is', async () => {
    const { exitCode, stderr, stdout } = await here.run('write transit/keys/orders type=ed25519');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('aes256-gcm96');
    expect(stderr).toBe(
      'coffer: warning: key orders already existed with type aes256-gcm96 and was not changed\n',
    );
  });

  it('is told that the local store needs no login', async () => {
    expect(await here.refused('login -method=userpass username=ada', 2)).toContain(
      'no server address: you are using the local store, which needs no login',
    );
  });

  it('is told what to do instead of a server for development', async () => {
    for (const line of ['serve --dev', 'serve -dev'])
      expect(await here.refused(line, 2)).toContain('(not needed: "coffer init" creates a store,');
  });

  it.each([
    ['list transit/key', 3, 'did you mean "transit/keys"?'],
    ['read transit/kyes/orders', 3, 'did you mean "transit/keys/orders"?'],
    ['write transit/encrpt/orders plaintext=aGk=', 3, 'did you mean "transit/encrypt/orders"?'],
  ])(
    'is told the path that was meant, by the local store and by a server: %s',
    async (line, exitCode, said) => {
      expect(await here.refused(line, exitCode)).toContain(said);
      const running = await startServerProcess([binary, 'serve', '--listen', '127.0.0.1:0', '-q'], {
        directory: here.directory,
        environment: here.environment(),
      });
      try {
        const token = await here.ok('token create --policy root');
        const there = here.with({
          COFFER_ADDR: running.address,
          COFFER_STORE: undefined,
          COFFER_TOKEN: token,
        });
        expect(await there.refused(line, exitCode)).toContain(said);
      } finally {
        await running.stop();
      }
    },
  );

  it('asks who may decrypt with a key in the words that come to mind', async () => {
    expect(await here.refused('policy who decrypt orders', 2)).toBe(
      'coffer: CAPABILITY: unknown capability "decrypt" (run "coffer policy who --key orders --operation decrypt")',
    );
    await here.ok('policy who --key orders --operation decrypt');
    // Neither a command nor a group of commands with a key.
    for (const word of ['nonsense', 'keys', 'random', 'hash'])
      expect(await here.refused(`policy who ${word} orders`, 2)).toContain('use one of');
  });

  it('sees what a token may do on a path', async () => {
    expect(await here.ok('token capabilities transit/keys/orders')).toBe('root');
    await here.ok('policy write limited -', {
      input: 'path "transit/encrypt/orders" { capabilities = ["create", "update"] }',
    });
    const token = await here.ok('token create --policy limited');
    const { accessor } = (await here.json(`token lookup ${token}`)) as { accessor: string };
    const paths = 'transit/encrypt/orders transit/keys/orders';
    expect(await here.ok(`token capabilities ${paths} --accessor ${accessor}`)).toBe(
      'transit/encrypt/orders\tcreate, update\ntransit/keys/orders\tdeny',
    );
    writeFileSync(here.file('token'), token, { mode: 0o600 });
    expect(await here.ok(`token capabilities ${paths} --token-file token`)).toBe(
      'transit/encrypt/orders\tcreate, update\ntransit/keys/orders\tdeny',
    );
    const first = await here.refused(['token', 'capabilities', token, 'transit/keys/orders'], 2);
    expect(first).toContain('a token cannot be passed as an argument');
    expect(first).not.toContain(token);
    const hint = await here.refused(['token', 'capabilities', accessor, 'transit/keys/orders'], 2);
    expect(hint).toContain(`run "coffer token capabilities transit/keys/orders --accessor ${accessor}"`);
    const running = await startServerProcess([binary, 'serve', '--listen', '127.0.0.1:0', '-q'], {
      directory: here.directory,
      environment: here.environment(),
    });
    try {
      const there = here.with({ COFFER_ADDR: running.address, COFFER_STORE: undefined, COFFER_TOKEN: token });
      expect(await there.json('token capabilities transit/encrypt/orders')).toEqual({
        'transit/encrypt/orders': ['create', 'update'],
      });
    } finally {
      await running.stop();
    }
  });
});

describe('a user of dotenvx', () => {
  it('is told of -f, when the file stands where the program belongs', async () => {
    writeFileSync(here.file('.env'), 'A=1\n');
    const { exitCode, stderr } = await here.spawned.run('exec .env -- env');
    expect(exitCode).toBe(127);
    expect(stderr).toBe('coffer: .env: command not found (did you mean -f .env?)\n');
    expect((await here.spawned.run('exec nowhere.env -- env')).stderr).toBe(
      'coffer: nowhere.env: command not found\n',
    );
  });
});
