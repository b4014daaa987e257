import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  type SendOptions,
  send,
  startServer,
  type TestServer,
} from '../../../servers/serving.ts';

let server: TestServer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
});

const call = (method: string, path: string, options: SendOptions = {}) =>
  send(server.address, method, path, { token: server.token, ...options });
const dataOf = async (path: string) =>
  ((await call('GET', path)).json as { data: Record<string, unknown> }).data;

describe('the settings of a mount', () => {
  it('are kept as they were told, so that what compares them finds no difference', async () => {
    const config = {
      default_lease_ttl: '1h0m0s',
      max_lease_ttl: '36000',
      listing_visibility: 'hidden',
      audit_non_hmac_request_keys: ['context'],
      audit_non_hmac_response_keys: 'key_version, other',
      passthrough_request_headers: null,
      options: null,
    };
    expect((await call('POST', '/v1/sys/mounts/told', { body: { type: 'transit', config } })).status).toBe(
      204,
    );
    const kept = {
      max_lease_ttl: 36_000,
      force_no_cache: false,
      listing_visibility: 'hidden',
      audit_non_hmac_request_keys: ['context'],
      audit_non_hmac_response_keys: ['key_version', 'other'],
    };
    expect((await dataOf('/v1/sys/mounts/told'))['config']).toEqual({ ...kept, default_lease_ttl: 3600 });
    const change = { default_lease_ttl: '2h', description: 'new', max_lease_ttl: '' };
    expect((await call('POST', '/v1/sys/mounts/told/tune', { body: change })).status).toBe(204);
    expect(await dataOf('/v1/sys/mounts/told/tune')).toEqual({
      ...kept,
      default_lease_ttl: 7200,
      description: 'new',
    });
  });

  it('are the times of the server where nobody set any, and again once "system" was said', async () => {
    await call('POST', '/v1/sys/mounts/untold', {
      body: { type: 'transit', config: { default_lease_ttl: '5m' } },
    });
    await call('POST', '/v1/sys/mounts/untold/tune', { body: { default_lease_ttl: 'system' } });
    expect(await dataOf('/v1/sys/mounts/untold/tune')).toEqual({
      default_lease_ttl: 2_764_800,
      max_lease_ttl: 2_764_800,
      force_no_cache: false,
      description: '',
    });
    expect(await dataOf('/v1/sys/mounts/untold')).toMatchObject({ config: { default_lease_ttl: 0 } });
  });

  it.each([
    [
      'a usual time above the longest',
      { default_lease_ttl: 20, max_lease_ttl: 10 },
      'greater than given max',
    ],
    [
      'a usual time above the longest of the server',
      { default_lease_ttl: '769h' },
      'greater than system max',
    ],
    ['a visibility that there is not', { listing_visibility: 'seen' }, 'invalid listing_visibility seen'],
  ])('refuse %s', async (_, config, text) => {
    const { status, json } = await call('POST', '/v1/sys/mounts/refused', {
      body: { type: 'transit', config },
    });
    expect(status).toBe(400);
    expect((json as { errors: string[] }).errors[0]).toContain(text);
    expect((await call('GET', '/v1/sys/mounts/refused')).status).toBe(400);
  });

  it('have no kind of tokens where nobody logs in, and none at all where tokens are made', async () => {
    const tuned = async (path: string, body: object) => {
      const { status, json } = await call('POST', `/v1/sys/${path}/tune`, { body });
      return [status, ...((json as { errors?: string[] } | undefined)?.errors ?? [])];
    };
    await call('POST', '/v1/sys/auth/people', { body: { type: 'userpass' } });
    expect(await tuned('auth/people', { token_type: 'batch' })).toEqual([204]);
    expect(await tuned('mounts/auth/people', { token_type: 'service' })).toEqual([204]);
    expect(await tuned('mounts/transit', { token_type: 'batch' })).toEqual([
      400,
      "'token_type' can only be modified on auth mounts",
    ]);
    expect((await tuned('auth/token', { description: 'mine' }))[0]).not.toBe(204);
    expect((await tuned('mounts/nowhere', { description: 'mine' }))[0]).not.toBe(204);
  });
});

describe('a mount that every server has', () => {
  it.each(['sys', 'sys/', 'identity', 'cubbyhole', 'auth/token'])('is not unmounted: %s', async (path) => {
    const { status, json } = await call('DELETE', `/v1/sys/mounts/${path}`);
    expect([status, json]).toEqual([400, { errors: [`cannot unmount "${path.replace(/\/$/, '')}/"`] }]);
  });

  it('is not looked for in paths that have no mount: nothing is removed', async () => {
    for (const path of ['nosuch', 'sys/nosuch', 'auth/nosuch'])
      expect((await call('DELETE', `/v1/sys/mounts/${path}`)).status).toBe(204);
  });
});

describe('an engine that is mounted where another one was', () => {
  it('has none of its keys, and opens nothing of theirs', async () => {
    const mount = () => call('POST', '/v1/sys/mounts/again', { body: { type: 'transit' } });
    await mount();
    const encrypted = await call('POST', '/v1/again/encrypt/k', { body: { plaintext: 'eA==' } });
    const { ciphertext } = (encrypted.json as { data: { ciphertext: string } }).data;
    expect((await call('DELETE', '/v1/sys/mounts/again')).status).toBe(204);
    await mount();
    expect((await call('GET', '/v1/again/keys/k')).status).toBe(404);
    expect((await call('POST', '/v1/again/keys/k')).status).toBe(200);
    expect((await call('POST', '/v1/again/decrypt/k', { body: { ciphertext } })).status).toBe(400);
    // Clients of Vault are served apart, and have not asked for it before.
    const headers = { 'x-vault-token': server.token };
    expect((await send(server.address, 'GET', '/v1/again/keys/k', { headers })).status).toBe(200);
  });
});

const MADE = [
  ['an engine', 'sys/mounts/made', 'transit'],
  ['a login method', 'sys/auth/made', 'approle'],
] as const;

describe.each(MADE)('what %s is made with', (_, path, type) => {
  const make = (body: object) => call('POST', `/v1/${path}`, { body: { type, ...body } });

  it('is shown from then on, also after a move and a change, for Terraform makes anew what does not show it', async () => {
    const traits = { local: true, seal_wrap: true, external_entropy_access: true };
    expect((await make(traits)).status).toBe(204);
    expect(await dataOf(`/v1/${path}`)).toMatchObject(traits);
    await call('POST', `/v1/${path}/tune`, { body: { description: 'changed' } });
    const moved = path.replace(/made$/, 'moved');
    const names = [path, moved].map((each) => each.replace('sys/mounts/', '').replace('sys/', ''));
    await call('POST', '/v1/sys/remount', { body: { from: names[0], to: names[1] } });
    expect(await dataOf(`/v1/${moved}`)).toMatchObject({ ...traits, description: 'changed' });
  });

  it('is false where it was not said, or said to be false', async () => {
    await make({ seal_wrap: false });
    expect(await dataOf(`/v1/${path}`)).toMatchObject({ seal_wrap: false, local: false });
    await call('DELETE', `/v1/${path}`);
  });

  it.each(['allowed_managed_keys', 'delegated_auth_accessors', 'identity_token_key', 'plugin_version'])(
    'is refused where it says something of %s, which there can be nothing of',
    async (name) => {
      const value = name.endsWith('s') ? ['a'] : 'a';
      const { status, json } = await make({ config: { [name]: value } });
      expect(status).toBe(400);
      expect((json as { errors: string[] }).errors[0]).toContain(`${name} cannot be set: `);
      expect((await make({ config: { [name]: '' } })).status).toBe(204);
      const tuned = await call('POST', `/v1/${path}/tune`, { body: { [name]: value } });
      expect(tuned.status).toBe(400);
      await call('DELETE', `/v1/${path}`);
    },
  );
});

describe('help on a path', () => {
  it('says what can be done there, and does nothing of it', async () => {
    await call('POST', '/v1/transit/keys/k', { body: { exportable: true } });
    const { status, json, text } = await call('GET', '/v1/transit/export/encryption-key/k?help=1');
    expect(status).toBe(200);
    expect((json as { help: string }).help).toContain('GET export/{key_type}/{name}');
    const { json: exported } = await call('GET', '/v1/transit/export/encryption-key/k');
    const [key] = Object.values((exported as { data: { keys: Record<string, string> } }).data.keys);
    expect(text).not.toContain(String(key));
  });

  it.each([
    ['POST', '?help=1'],
    ['PUT', '?help=false'],
    ['DELETE', '?help=yes'],
    ['LIST', '?help=1'],
    ['PATCH', '?list=perhaps&help=1'],
  ])('is all that a %s with %s gets', async (method, query) => {
    await call('POST', '/v1/transit/keys/stays');
    await call('POST', '/v1/transit/keys/stays/config', { body: { deletion_allowed: true } });
    const { status, json } = await call(method, `/v1/transit/keys/stays${query}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ help: expect.stringContaining('keys/{name}') });
    await call(method, `/v1/transit/keys/comes${query}`, { body: {} });
    const { keys } = await dataOf('/v1/transit/keys?list=true');
    expect(keys).toContain('stays');
    expect(keys).not.toContain('comes');
  });

  it('is there for paths of the server, and 404 for those that are none', async () => {
    const { json } = await call('GET', '/v1/sys/mounts/transit/tune?help=true');
    expect((json as { help: string }).help).toMatch(/^(?:GET|POST) sys\/mounts\/\{path\}\/tune\n/);
    expect((await call('GET', '/v1/transit/nothing/here?help=1')).status).toBe(404);
  });

  it.each(['/v1/transit?help=1', '/v1/transit/?help=1'])(
    'lists all that a mount offers: %s',
    async (path) => {
      const { status, json } = await call('GET', path);
      expect(status).toBe(200);
      const { help } = json as { help: string };
      expect(help).toContain('POST encrypt/{name}\n    Encrypt a value with a named key.\n');
      expect(help).toContain('GET backup/{name}\n');
      expect(help).not.toContain('(path)');
    },
  );

  it('is not for those without a token', async () => {
    expect((await send(server.address, 'GET', '/v1/sys/health?help=1')).status).toBe(403);
  });
});
