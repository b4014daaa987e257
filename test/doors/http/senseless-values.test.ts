import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { loadRoutes } from '../../../src/operations/routes.ts';
import type { Chance } from '../../chance.ts';
import { isLong } from '../../long.ts';
import { seeded } from '../../seeded.ts';
import {
  cleanUpAfterAll,
  locally,
  send,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../../servers/serving.ts';

/** What would end the server's own work, or the token in use. */
const ENDS = /^sys\.(?:seal|unseal)|revoke/;

const SECRET = 4111111111111111;

const senseless: readonly unknown[] = [
  SECRET,
  -SECRET,
  [[SECRET]],
  { a: { b: SECRET } },
  true,
  1e300,
  9_000_000_000_000,
  2 ** 53,
  '9'.repeat(30),
  '9000000000000s',
  'x'.repeat(20_000),
  Array.from({ length: 10_001 }, () => 'a'),
];

/** A third of them. */
const some = (chance: Chance): readonly unknown[] =>
  Array.from({ length: senseless.length / 3 }, () => chance.pick(senseless));

/** Every operation that takes something beside its path, with its parameters. */
const cases = (await loadRoutes(catalogue))
  .filter(({ name, route }) => !ENDS.test(name) && (route.method === 'POST' || route.method === 'PATCH'))
  .flatMap(({ name, operation, route }) => {
    const prefix =
      operation.api === 'json-api' ? '/api/v2/' : route.mount === undefined ? '/v1/' : '/v1/transit/';
    const inPath = new Set(route.parts.flatMap((part) => ('param' in part ? [part.param] : [])));
    const path = route.parts
      .map((part) => ('text' in part ? part.text : part.optional ? '' : (part.words?.[0] ?? 'x')))
      .join('');
    const params = Object.entries(operation.params).filter(([param]) => !inPath.has(param));
    return params.length === 0
      ? []
      : [{ name, method: route.method, path: prefix + path, operation, params }];
  });

describe('whatever a value is, sent where it makes no sense', () => {
  const afterwards = cleanUpAfterAll();
  const auditFile = join(temporaryDirectory(afterwards), 'audit.log');
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ auditFile }, afterwards);
  });

  it.each(cases)('is taken or refused by $name, never a failure of the server ($path)', async (asked) => {
    const { operation, method, path, params } = asked;
    const chance = seeded();
    for (const [name, { document }] of params) {
      // Each value meets many parameters, and in the long proof all of them.
      for (const value of isLong ? senseless : some(chance)) {
        const body =
          operation.api === 'vault'
            ? { [name]: value }
            : document === 'data'
              ? { data: value }
              : { data: { type: operation.resource, [document ?? 'attributes']: { [name]: value } } };
        const { status, text } = await send(server.address, method, path, { token: server.token, body });
        expect([name, value, status < 500, status < 500 || text]).toEqual([name, value, true, true]);
      }
    }
  });

  it.each([
    ['auth/approle/role/app', 'token_type', 400],
    ['sys/doors/ssh/app', 'uses', 400],
  ])(
    'is refused by %s where a whole number that no double holds stands in %s',
    async (path, name, status) => {
      const { address, token } = server;
      await send(address, 'POST', '/v1/sys/auth/approle', { token, body: { type: 'approle' } });
      const body = `{"${name}":[12345678901234567890]}`;
      const refused = await send(address, 'POST', `/v1/${path}`, { token, body });
      expect([refused.status, refused.text]).toEqual([status, expect.any(String)]);
    },
  );

  it('breaks no list afterwards', async () => {
    const { address, token } = server;
    const list = await send(address, 'LIST', '/v1/auth/token/accessors', { token });
    expect(list.status).toBe(200);
    for (const accessor of list.json.data.keys as string[]) {
      const body = { accessor };
      const { status } = await send(address, 'POST', '/v1/auth/token/lookup-accessor', { token, body });
      expect(status).toBe(200);
    }
    for (const path of ['/v1/sys/mounts', '/v1/sys/policies/acl?list=true', '/v1/transit/keys?list=true']) {
      expect((await send(address, 'GET', path, { token })).status).toBe(200);
    }
  });

  it('stands nowhere in the audit trail where it is no text', () => {
    const lines = readFileSync(auditFile, 'utf8').split('\n');
    const shown = lines.flatMap((line) => {
      const at = line.indexOf(String(SECRET));
      return at === -1 ? [] : [line.slice(Math.max(0, at - 60), at + 20)];
    });
    expect(lines.length).toBeGreaterThan(1000);
    expect(shown).toEqual([]);
  });
});

describe('a token that an earlier release gave an impossible end', () => {
  it('is listed and looked up as all others, with the longest times that can be written', async () => {
    const { address, token, directory } = await startServer();
    const issued = await send(address, 'POST', '/v1/auth/token/create', { token, body: { ttl: '1h' } });
    const { accessor } = issued.json.auth as { accessor: string };
    for (const seconds of [9_000_000_000_000, 1e300]) {
      await locally(directory, ({ core }) =>
        core.store.transact(async (tx) => {
          const ref = { collection: 'access/tokens', id: accessor };
          const stored = (await tx.get<object>(ref)) ?? {};
          const expiresMs = Math.min(seconds * 1000, Number.MAX_VALUE);
          tx.put(ref, {
            ...stored,
            creationTtl: seconds,
            explicitMaxTtl: seconds,
            period: seconds,
            expiresMs,
          });
        }),
      );
      const list = await send(address, 'LIST', '/v1/auth/token/accessors', { token });
      expect([list.status, list.json.data.keys]).toEqual([200, expect.arrayContaining([accessor])]);
      const body = { accessor };
      const { json } = await send(address, 'POST', '/v1/auth/token/lookup-accessor', { token, body });
      expect(json.data).toMatchObject({
        expire_time: '9999-12-31T23:59:59Z',
        explicit_max_ttl: 9_223_372_036,
        creation_ttl: 9_223_372_036,
      });
      expect(Number.isSafeInteger(json.data['ttl'])).toBe(true);
    }
  });
});
