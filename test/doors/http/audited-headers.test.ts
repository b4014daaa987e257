import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  issueToken,
  send,
  setPolicy,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../../servers/serving.ts';

const HEADERS = 'sys/config/auditing/request-headers';

let server: TestServer;
let auditFile: string;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  auditFile = join(temporaryDirectory(afterwards), 'audit.log');
  server = await startServer({ auditFile }, afterwards);
});

const root = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  send(server.address, method, `/v1/${path}`, {
    token: server.token,
    headers,
    body,
  });
const recorded = (): { type: string; request: { headers?: unknown; path: string } }[] =>
  readFileSync(auditFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const last = () => recorded().at(-1)?.request.headers;

describe('headers that are named for the audit trail', () => {
  it('are written, read, listed and removed in the words of peers, whatever their case', async () => {
    expect((await root('GET', HEADERS)).json.data).toEqual({ headers: {} });
    const absent = await root('GET', `${HEADERS}/X-Trace`);
    expect([absent.status, absent.json.errors]).toEqual([400, ['Could not find header in config']]);
    expect((await root('POST', `${HEADERS}/X-Trace`, {})).status).toBe(204);
    expect((await root('PUT', `${HEADERS}/X-User`, { hmac: true })).status).toBe(204);
    const shown = (await root('GET', `${HEADERS}/X-USER`)).json;
    expect(shown.data).toEqual({ 'X-USER': { hmac: true } });
    expect(shown['X-USER']).toEqual({ hmac: true });
    const all = { 'x-trace': { hmac: false }, 'x-user': { hmac: true } };
    expect((await root('GET', HEADERS)).json).toMatchObject({ headers: all, data: { headers: all } });
    await root('POST', `${HEADERS}/x-trace`, { hmac: true });
    expect((await root('GET', `${HEADERS}/x-trace`)).json.data).toEqual({ 'x-trace': { hmac: true } });
    for (const name of ['X-Trace', 'x-user', 'x-user', 'none']) {
      expect((await root('DELETE', `${HEADERS}/${name}`)).status).toBe(204);
    }
    expect((await root('GET', HEADERS)).json.data).toEqual({ headers: {} });
  });

  it('are in the records of requests, in clear or hashed, and no others are', async () => {
    await root('POST', `${HEADERS}/X-Trace`, { hmac: false });
    await root('POST', `${HEADERS}/X-User`, { hmac: true });
    const { hash } = (await root('POST', 'sys/audit-hash/file', { input: 'ada' })).json.data;
    const sent = { 'x-trace': 'trace "7"', 'X-User': 'ada', 'x-other': 'no' };
    await root('POST', 'transit/keys/k', {}, sent);
    const both = recorded().filter(({ request }) => request.path === 'transit/keys/k');
    expect(both.map(({ type, request }) => [type, request.headers])).toEqual([
      ['request', { 'x-trace': ['trace "7"'], 'x-user': [hash] }],
      ['response', { 'x-trace': ['trace "7"'], 'x-user': [hash] }],
    ]);
    await root('GET', 'transit/keys/k', undefined, { 'x-trace': server.token });
    expect(last()).toEqual({ 'x-trace': [expect.stringMatching(/^hmac-sha256:/)] });
    await send(server.address, 'GET', '/v1/transit/keys/k', { headers: { 'x-trace': 'a stranger' } });
    expect(last()).toEqual({ 'x-trace': ['a stranger'] });
    await send(server.address, 'GET', '/api/v2/organizations', {
      headers: { authorization: `Bearer ${server.token}`, 'x-trace': 'tags' },
    });
    expect(last()).toEqual({ 'x-trace': ['tags'] });
    await root('GET', 'transit/keys/k');
    expect(last()).toBeUndefined();
  });

  it('are not those with credentials in clear, nor what no header is called', async () => {
    for (const name of ['X-Vault-Token', 'authorization', 'Cookie', 'proxy-Authorization']) {
      expect((await root('POST', `${HEADERS}/${name}`, { hmac: false })).status).toBe(400);
    }
    await root('POST', `${HEADERS}/X-Vault-Token`, { hmac: true });
    await root('GET', 'transit/keys/k', undefined, { 'x-vault-token': server.token });
    expect(last()).toEqual({ 'x-vault-token': [expect.stringMatching(/^hmac-sha256:/)] });
    expect(readFileSync(auditFile, 'utf8')).not.toContain(server.token);
    for (const name of ['a%20b', 'x'.repeat(129), 'x%0a']) {
      expect((await root('POST', `${HEADERS}/${name}`, {})).status).toBe(400);
    }
  });

  it('are at most a hundred, named by who has sudo', async () => {
    const { headers } = (await root('GET', HEADERS)).json.data;
    for (let index = Object.keys(headers).length; index < 100; index++) {
      expect((await root('POST', `${HEADERS}/x-${index}`, {})).status).toBe(204);
    }
    expect((await root('POST', `${HEADERS}/x-more`, {})).status).toBe(400);
    expect((await root('POST', `${HEADERS}/x-99`, { hmac: true })).status).toBe(204);
    const rule = `path "${HEADERS}/*" { capabilities = ["create", "read", "update", "delete"] }`;
    await setPolicy(server.directory, 'plain', rule);
    const token = await issueToken(server.directory, { policies: ['plain'] });
    const refused = await send(server.address, 'POST', `/v1/${HEADERS}/x-99`, { token, body: {} });
    expect(refused.status).toBe(403);
  });
});
