import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { AuditLog } from '../../../src/access/audit-log.ts';
import { unavailable } from '../../../src/ground/errors.ts';
import { refused } from '../../refusal.ts';
import { issueToken, send, setPolicy, startServer, temporaryDirectory } from '../../servers/serving.ts';

interface Recorded {
  readonly type: string;
  readonly auth: Readonly<Record<string, unknown>>;
  readonly request: {
    readonly id: string;
    readonly operation: string;
    readonly path: string;
    readonly mount_point?: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
  readonly response?: { readonly status: number; readonly data?: Readonly<Record<string, unknown>> };
  readonly error?: string;
}

const recordsIn = (file: string): readonly Recorded[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Recorded)
    : [];

const brief = ({ type, request, response }: Recorded) => [
  type,
  request.operation,
  request.path,
  response?.status,
];

async function audited() {
  const auditFile = join(temporaryDirectory(), 'audit.log');
  return { auditFile, ...(await startServer({ auditFile })) };
}

describe('the audit trail of a server', () => {
  it('has a record of every request by the time of its answer, refused ones included', async () => {
    const { address, token, auditFile, directory } = await audited();
    await setPolicy(directory, 'none', 'path "x" { capabilities = ["read"] }');
    const poor = await issueToken(directory, { policies: ['none'] });
    const requests: readonly (readonly [
      string,
      string,
      string | undefined,
      unknown,
      readonly unknown[][],
    ])[] = [
      [
        'POST',
        '/v1/transit/keys/k',
        token,
        undefined,
        [
          ['request', 'update', 'transit/keys/k', undefined],
          ['response', 'update', 'transit/keys/k', 200],
        ],
      ],
      [
        'POST',
        '/v1/transit/encrypt/k',
        token,
        { plaintext: 'c2VjcmV0' },
        [['response', 'update', 'transit/encrypt/k', 200]],
      ],
      ['GET', '/v1/transit/keys/none', token, undefined, [['response', 'read', 'transit/keys/none', 404]]],
      ['LIST', '/v1/transit/keys', poor, undefined, [['response', 'list', 'transit/keys', 403]]],
      ['GET', '/v1/transit/keys/k', 'cfr.bad', undefined, [['response', 'read', 'transit/keys/k', 403]]],
      ['GET', '/v1/transit/keys/k', undefined, undefined, [['response', 'read', 'transit/keys/k', 403]]],
      ['GET', '/v1/nothing/here', token, undefined, [['response', 'read', 'nothing/here', 404]]],
      [
        'GET',
        '/api/v2/organizations/x',
        token,
        undefined,
        [['response', 'read', 'api/v2/organizations/x', 404]],
      ],
      [
        'GET',
        '/api/v2/organizations/x',
        undefined,
        undefined,
        [['response', 'read', 'api/v2/organizations/x', 401]],
      ],
    ];
    for (const [method, path, as, body, expected] of requests) {
      const before = recordsIn(auditFile).length;
      await send(address, method, path, { body, token: as });
      expect(recordsIn(auditFile).slice(before).map(brief)).toEqual(expected);
    }
  });

  it('names the request as its answer does, and holds no secret of it', async () => {
    const { address, token, auditFile } = await audited();
    const plaintext = Buffer.from('4012 8888 8888 1881').toString('base64');
    const { json } = await send(address, 'POST', '/v1/transit/encrypt/k', { token, body: { plaintext } });
    const issued = await send(address, 'POST', '/v1/auth/token/create', { token, body: {} });
    const text = readFileSync(auditFile, 'utf8');
    for (const secret of [token, plaintext, json.data.ciphertext, issued.json.auth.client_token]) {
      expect(text).not.toContain(secret);
    }
    const record = recordsIn(auditFile).find(({ request }) => request.id === json.request_id);
    expect(record?.request.mount_point).toBe('transit/');
    expect(record?.request.data?.['plaintext']).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
    expect(statSync(auditFile).mode & 0o777).toBe(0o600);
  });

  it('shows in clear what a mount is tuned to show, of its requests and of its answers, and of no other mount', async () => {
    const { address, token, auditFile } = await audited();
    const ask = (method: string, path: string, body?: object) =>
      send(address, method, `/v1/${path}`, { token, body });
    await ask('POST', 'sys/mounts/open', {
      type: 'transit',
      config: { audit_non_hmac_request_keys: ['context'] },
    });
    await ask('POST', 'sys/mounts/open/tune', { audit_non_hmac_response_keys: 'ciphertext,name' });
    const item = { plaintext: 'c2VjcmV0', context: 'dGVuYW50LTc=' };
    const hash = expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/);
    const recordOf = (path: string) => recordsIn(auditFile).findLast(({ request }) => request.path === path);
    const { json } = await ask('POST', 'open/encrypt/k', item);
    expect(recordOf('open/encrypt/k')).toMatchObject({
      request: { data: { plaintext: hash, context: item.context } },
      response: { data: { ciphertext: json.data.ciphertext } },
    });
    const batch = await ask('POST', 'open/encrypt/k', { batch_input: [item] });
    expect(recordOf('open/encrypt/k')).toMatchObject({
      request: { data: { batch_input: [{ plaintext: hash, context: item.context }] } },
      response: { data: { batch_results: [{ ciphertext: batch.json.data.batch_results[0].ciphertext }] } },
    });
    await ask('POST', 'transit/encrypt/k', item);
    expect(recordOf('transit/encrypt/k')).toMatchObject({
      request: { data: { plaintext: hash, context: hash } },
      response: { data: { ciphertext: hash } },
    });
    expect(readFileSync(auditFile, 'utf8')).not.toContain(item.plaintext);
  });

  it('names who logged in, and the new token by its hash alone, and nobody where a login failed', async () => {
    const { address, token, auditFile } = await audited();
    const post = (path: string, body: object) => send(address, 'POST', `/v1/${path}`, { token, body });
    await post('sys/auth/approle', { type: 'approle' });
    await post('sys/auth/userpass', { type: 'userpass' });
    await post('auth/userpass/users/ada', { password: 'secret words' });
    for (const type of ['service', 'batch']) {
      await post(`auth/approle/role/${type}`, { token_type: type, token_policies: ['p'] });
    }
    const logins = [];
    for (const role of ['service', 'batch']) {
      const found = await send(address, 'GET', `/v1/auth/approle/role/${role}/role-id`, { token });
      const made = await post(`auth/approle/role/${role}/secret-id`, {});
      const { role_id } = found.json.data;
      const { secret_id } = made.json.data;
      logins.push(await send(address, 'POST', '/v1/auth/approle/login', { body: { role_id, secret_id } }));
    }
    const user = '/v1/auth/userpass/login/ada';
    logins.push(await send(address, 'POST', user, { body: { password: 'secret words' } }));
    await send(address, 'POST', user, { body: { password: 'wrong' } });
    const answers = recordsIn(auditFile).filter(
      ({ type, request }) => type === 'response' && request.path.includes('/login'),
    );
    const auths = logins.map(({ json }) => json.auth);
    const hash = expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/);
    expect(answers.map(({ auth }) => auth)).toEqual([
      {
        client_token: hash,
        accessor: auths[0].accessor,
        display_name: 'approle',
        policies: ['default', 'p'],
        metadata: { role_name: 'service' },
        token_type: 'service',
      },
      {
        client_token: hash,
        accessor: '',
        display_name: 'approle',
        policies: ['default', 'p'],
        metadata: { role_name: 'batch' },
        token_type: 'batch',
      },
      {
        client_token: hash,
        accessor: auths[2].accessor,
        display_name: 'userpass-ada',
        policies: ['default'],
        metadata: { username: 'ada' },
        token_type: 'service',
      },
      {},
    ]);
    await send(address, 'GET', '/v1/auth/token/lookup-self', { token: auths[0].client_token });
    expect(recordsIn(auditFile).at(-1)?.auth).toEqual(answers[0]?.auth);
    for (const { client_token } of auths) expect(readFileSync(auditFile, 'utf8')).not.toContain(client_token);
  });

  it('is not filled by probes', async () => {
    const { address, auditFile } = await audited();
    for (const path of ['/v1/sys/health', '/v1/sys/seal-status', '/api/v2/ping', '/docs']) {
      await send(address, 'GET', path);
    }
    expect(recordsIn(auditFile)).toEqual([]);
  });

  it('goes on in a new file when the old one is moved away', async () => {
    const { address, token, auditFile, reload } = await audited();
    await send(address, 'GET', '/v1/sys/mounts', { token });
    renameSync(auditFile, `${auditFile}.1`);
    await reload();
    await send(address, 'GET', '/v1/sys/mounts', { token });
    expect([recordsIn(`${auditFile}.1`).length, recordsIn(auditFile).length]).toEqual([1, 1]);
  });

  it('when it can not be written, nothing is answered and nothing is changed', async () => {
    const { address, token, auditFile, reload, log } = await audited();
    expect((await send(address, 'POST', '/v1/transit/keys/before', { token })).status).toBe(200);
    // A directory in its place: not even the owner of everything can write that.
    rmSync(auditFile);
    mkdirSync(auditFile);
    await reload();
    const refusal = await send(address, 'POST', '/v1/transit/keys/after', { token });
    expect(refusal.status).toBe(503);
    expect(refusal.json.errors[0]).toBe('the audit log cannot be written');
    // Operators find the file and the reason in the log, clients do not in the answer.
    expect(refusal.text).not.toContain(auditFile);
    const cause = expect.stringContaining(`cannot open the audit log ${auditFile}: `);
    const lines = log.slice(0, 4).map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { message: 'listening' },
      { level: 'error', message: 'the audit log cannot be used: all requests are refused', reason: cause },
      { message: 'reloaded' },
      { message: 'request failed', reason: cause },
    ]);
    const logged = () => log.filter((line) => JSON.parse(line).message === 'request failed').length;
    expect(logged()).toBe(1);
    const read = await send(address, 'GET', '/v1/transit/keys/before', { token });
    expect([read.status, read.text.includes('before')]).toEqual([503, false]);
    const document = await send(address, 'GET', '/api/v2/organizations', { token });
    expect(document.status).toBe(503);
    // Each request once.
    expect(logged()).toBe(3);
    rmSync(auditFile, { recursive: true });
    await reload();
    expect((await send(address, 'GET', '/v1/transit/keys/before', { token })).status).toBe(200);
    expect((await send(address, 'GET', '/v1/transit/keys/after', { token })).status).toBe(404);
  });

  it('when it can not be written after a change was made, nobody is invited to make it again', async () => {
    const { address, token } = await audited();
    for (const [path, body] of [
      ['/v1/transit/keys/once', undefined],
      ['/api/v2/organizations', { data: { type: 'organizations', attributes: { name: 'once' } } }],
    ] as const) {
      const append = vi.spyOn(AuditLog.prototype, 'append');
      // The record of the request is written, that of the answer is not.
      append.mockImplementationOnce(async () => undefined);
      append.mockRejectedValueOnce(unavailable('the audit log cannot be written'));
      const { status, text } = await send(address, 'POST', path, {
        token,
        ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/vnd.api+json' } }),
      });
      append.mockRestore();
      expect({ status, text }).toEqual({
        status: 409,
        text: expect.stringContaining('the change was made, but the audit log cannot be written'),
      });
    }
    expect((await send(address, 'GET', '/v1/transit/keys/once', { token })).status).toBe(200);
    expect((await send(address, 'GET', '/api/v2/organizations/once', { token })).status).toBe(200);
  });

  it('must be there before a server starts', async () => {
    const auditFile = temporaryDirectory();
    chmodSync(auditFile, 0o700);
    expect(await refused(startServer({ auditFile }))).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining(`cannot open the audit log ${auditFile}`),
    });
  });
});
