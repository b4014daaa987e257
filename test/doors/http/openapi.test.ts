import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiDocument, ApiOperation } from '../../../src/doors/http/openapi.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import type { Schema } from '../../../src/operations/declaration/params.ts';
import { loadRoutes, type ServedRoute } from '../../../src/operations/routes.ts';
import { isLong } from '../../long.ts';
import { cleanUpAfterAll, type Reply, send, startServer, type TestServer } from '../../servers/serving.ts';

interface Described {
  readonly path: string;
  readonly method: string;
  readonly operation: ApiOperation;
}

let server: TestServer;
let document: ApiDocument;
let routes: readonly ServedRoute[];
let described: readonly Described[];
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
  document = (await send(server.address, 'GET', '/v1/sys/internal/specs/openapi')).json;
  routes = await loadRoutes(catalogue);
  described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
});

describe('the OpenAPI document', () => {
  it('is what the standard asks for', async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    expect(document.openapi).toBe('3.1.1');
  });

  it('has every operation of the catalogue, under its own name', () => {
    const names = new Set(described.map(({ operation }) => operation.operationId.replace(/\.\d+$/, '')));
    expect([...new Set(routes.map(({ name }) => name))].filter((name) => !names.has(name))).toEqual([]);
    const ids = described.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has answers in the envelope of Vault, but for those of the server itself that have none', () => {
    const answerOf = (path: string): object => document.paths[path]?.['get']?.responses ?? {};
    const withSchema = (schema: object): object => ({
      '2XX': { content: { 'application/json': { schema } } },
    });
    expect(answerOf('/v1/transit/keys/{name}')).toMatchObject(
      withSchema({ $ref: '#/components/schemas/Envelope' }),
    );
    expect(answerOf('/v1/sys/seal-status')).toMatchObject(withSchema({ type: 'object' }));
  });

  it('has values in its schemas that are of their type', () => {
    expect(schemasIn(document).filter(({ schema }) => !fitsItself(schema))).toEqual([]);
    const create = document.paths['/v1/transit/keys/{name}']?.['post']?.requestBody;
    expect(create).toMatchObject({
      content: { 'application/json': { schema: { properties: { auto_rotate_period: { default: '0s' } } } } },
    });
  });

  it('shows optional segments as paths of their own, and lists as GET', () => {
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/v1/transit/random',
        '/v1/transit/random/{bytes}',
        '/v1/transit/restore/{name}',
      ]),
    );
    const list = document.paths['/v1/transit/keys']?.['get'];
    expect(list?.parameters?.[0]).toMatchObject({ name: 'list', in: 'query', required: true });
  });

  it('tells the body of a JSON:API request down to the attributes', () => {
    const body = document.paths['/api/v2/organizations']?.['post']?.requestBody;
    expect(body).toMatchObject({
      content: {
        'application/vnd.api+json': {
          schema: {
            properties: {
              data: { properties: { type: { enum: ['organizations'] }, attributes: { required: ['name'] } } },
            },
          },
        },
      },
    });
  });
});

describe('an answer without the usual form', () => {
  const replyTo = async (method: string, path: string, options: { body?: object; headers?: object } = {}) =>
    send(server.address, method, path, { ...options, token: server.token } as never);
  const operationAt = (path: string, method: string): ApiOperation | undefined =>
    document.paths[path]?.[method];
  const KEY = '/v1/transit/keys/{name}';

  it.each([
    ['none, of a deletion', 204, '/v1/sys/policies/acl/{name}', 'DELETE', '/v1/sys/policies/acl/none', {}],
    [
      'a batch with a failed item',
      400,
      '/v1/transit/decrypt/{name}',
      'POST',
      '/v1/transit/decrypt/described',
      {
        body: { batch_input: [{ ciphertext: 'service:v1:AAAA' }] },
      },
    ],
    [
      'a wrapped one',
      200,
      KEY,
      'GET',
      '/v1/transit/keys/described',
      { headers: { 'x-vault-wrap-ttl': '60' } },
    ],
    ['health with the status of an error', 503, '/v1/sys/health', 'GET', '/v1/sys/health?activecode=503', {}],
    ['an error', 404, KEY, 'GET', '/v1/transit/keys/nowhere', {}],
  ])('is described: %s', async (_, status, path, method, target, options) => {
    await replyTo('POST', '/v1/transit/keys/described');
    const reply = await replyTo(method, target, options);
    expect(reply.status).toBe(status);
    const described = operationAt(path, method.toLowerCase());
    expect(described && undescribed(described, reply)).toBeUndefined();
    expect(described).toBeDefined();
  });

  it('has no content only where that is described, and never for what gives a value', () => {
    const empties = described.filter(({ operation }) => '204' in (operation.responses as object));
    const ids = empties.map(({ operation }) => operation.operationId);
    expect(ids).toEqual(expect.arrayContaining(['transit.keys.delete', 'policy.write', 'tags.ping']));
    expect(
      ids.filter((id) => /^transit\.(?:encrypt|decrypt|sign|verify|hmac|random|keys\.read)$/.test(id)),
    ).toEqual([]);
  });
});

describe('the page of documentation', () => {
  it('has every path, and nothing that lies elsewhere or runs', async () => {
    const { status, text, headers } = await send(server.address, 'GET', '/docs');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    for (const { path } of described) expect(text).toContain(path);
    expect(text).not.toMatch(/<script|\bsrc=|@import|url\(|https?:\/\//i);
  });
});

/** Values that fit a schema, mixed with some that do not. */
function valuesFor(schema: Schema): fc.Arbitrary<unknown> {
  const fitting = fittingValues(schema);
  return fc.oneof({ weight: 4, arbitrary: fitting }, { weight: 1, arbitrary: fc.jsonValue() });
}

function fittingValues(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -2, max: Math.min(schema.maximum ?? 300, 300) });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valuesFor(schema.items ?? {}), { maxLength: 3 });
    case 'object':
      return membersFor(schema);
    default:
      return schema.format === 'byte'
        ? fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64'))
        : fc.constantFrom('orders', 'acme', 'transit', 'sha2-256', 'latest', '1h', '');
  }
}

function membersFor({ properties = {}, required = [] }: Schema): fc.Arbitrary<object> {
  const arbitraries = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valuesFor(schema)]),
  );
  return fc.record(arbitraries, { requiredKeys: [...required] });
}

/** Every schema of the document that has a default or words to choose from. */
function schemasIn(
  part: unknown,
  place = '',
): readonly { readonly place: string; readonly schema: Schema }[] {
  if (typeof part !== 'object' || part === null) return [];
  const own = 'enum' in part || 'default' in part ? [{ place, schema: part as Schema }] : [];
  return [...own, ...Object.entries(part).flatMap(([name, inner]) => schemasIn(inner, `${place}/${name}`))];
}

function fitsItself({ type, enum: words = [], default: usual }: Schema): boolean {
  const fits = (value: unknown): boolean =>
    type === undefined ||
    (type === 'integer'
      ? Number.isInteger(value)
      : Array.isArray(value)
        ? type === 'array'
        : typeof value === type);
  return words.every(fits) && (usual === undefined || fits(usual));
}

interface Components {
  readonly schemas: { readonly Envelope: { readonly properties: Readonly<Record<string, MemberSchema>> } };
}

/** Schema of a member of an answer, which may be of several types. */
interface MemberSchema {
  readonly type: string | readonly string[];
  readonly format?: string;
}

/** Whether a value has the type in its schema; members without a schema may have any. */
function isOfType(schema: MemberSchema | undefined, value: unknown): boolean {
  if (schema === undefined) return true;
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const isUuid = schema.format !== 'uuid' || /^[\da-f-]{36}$/.test(String(value));
  return isUuid && [schema.type].flat().includes(Number.isInteger(value) ? 'integer' : type);
}

interface Answered {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

/** What is wrong with a reply by the description of its operation; undefined if nothing is. */
function undescribed(
  { responses }: ApiOperation,
  { status, text, headers, json }: Reply,
): string | undefined {
  const all = responses as Readonly<Record<string, Answered & { readonly $ref?: string }>>;
  const range = all[status] ?? all[`${Math.floor(status / 100)}XX`];
  if (range === undefined) return `status ${status} is not described`;
  if (range.$ref !== undefined) return Array.isArray(json?.errors) ? undefined : 'there are no errors';
  if (range.content === undefined) return text === '' ? undefined : 'there is content';
  const media = String(headers['content-type']).split(';', 1)[0] ?? '';
  const schema = range.content[media]?.schema;
  if (schema === undefined) return `there is no ${media} with status ${status}`;
  const isOf = (name: string): boolean => JSON.stringify(schema).includes(`/schemas/${name}"`);
  if ((isOf('Errors') && Array.isArray(json?.errors)) || !isOf('Envelope')) return undefined;
  const { properties } = (document['components'] as Components).schemas.Envelope;
  const wrong = Object.entries(json ?? {}).filter(([name, value]) => !isOfType(properties[name], value));
  return json?.request_id === undefined ? 'there is no envelope' : wrong[0]?.[0];
}

/** What would end the test's own server or token. */
const LEFT_OUT = /^(?:sys\.seal|sys\.unseal|token\.revoke.*)$/;

/** A request for a described operation: path, query and body from their schemas. */
function requestFor({ path, method, operation }: Described) {
  const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
  const inQuery = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const names = fc.record(
    Object.fromEntries(
      inPath.map(({ name, schema }) => [
        name,
        schema.type === 'string' ? fc.oneof(fittingValues(schema), fc.webSegment()) : fittingValues(schema),
      ]),
    ),
  );
  const query = fc.record(
    Object.fromEntries(inQuery.map(({ name, schema }) => [name, fittingValues(schema)])),
    {
      requiredKeys: inQuery.filter(({ required }) => required).map(({ name }) => name),
    },
  );
  const [media, content] = Object.entries(
    (operation.requestBody as { content?: Readonly<Record<string, { schema: Schema }>> })?.content ?? {},
  )[0] ?? ['', undefined];
  const body = content === undefined ? fc.constant(undefined) : membersFor(content.schema);
  return fc.record({ names, query, body }).map((parts) => ({
    method,
    media,
    body: parts.body,
    target:
      path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(printed(parts.names[name]))) +
      printQuery(parts.query),
  }));
}

/** A value as clients write it in a query. A generated object may have no prototype, and so no text of its own. */
function printed(value: unknown): string {
  if (Array.isArray(value)) return value.map(printed).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function printQuery(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) query.set(name, printed(value));
  return query.size === 0 ? '' : `?${query}`;
}

describe('every described operation', () => {
  it('answers what fits its description, and what does not, as it is described', async () => {
    const slow = /^transit\.(?:keys\.create|wrapping-key)/;
    for (const each of described.filter(({ operation }) => !LEFT_OUT.test(operation.operationId))) {
      const { operation } = each;
      await fc.assert(
        fc.asyncProperty(requestFor(each), async ({ method, target, media, body }) => {
          const reply = await send(server.address, method, target, {
            token: server.token,
            body,
            headers:
              target.startsWith('/api/v2/') && method !== 'GET'
                ? { 'content-type': 'application/vnd.api+json' }
                : media === ''
                  ? {}
                  : { 'content-type': media },
          });
          expect([operation.operationId, target, reply.status < 500, reply.status]).toEqual([
            operation.operationId,
            target,
            true,
            reply.status,
          ]);
          expect([operation.operationId, undescribed(operation, reply)]).toEqual([
            operation.operationId,
            undefined,
          ]);
          // Such a path exists, whatever is wrong with the values.
          if (reply.status === 405) expect.fail(`${method} ${target} is described but not served`);
          if (reply.status >= 400 && reply.json?.data === undefined) {
            expect(Array.isArray(reply.json?.errors)).toBe(true);
          }
        }),
        { numRuns: slow.test(operation.operationId) ? 4 : isLong ? 12 : 4 },
      );
    }
    expect(server.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
