import { version } from '../../ground/version.ts';
import type { Operation } from '../../operations/declaration/operation.ts';
import type { Param, Params, Schema } from '../../operations/declaration/params.ts';
import { type PathPart, pathParams, type Route } from '../../operations/declaration/route.ts';
import { usualPath } from '../../operations/mount-types.ts';
import type { ServedRoute } from '../../operations/routes.ts';
import { MEDIA_TYPE } from './json-api/json-api.ts';
import { JSON_TYPE } from './vault/envelope.ts';

/** OpenAPI 3.1 document of the whole API, derived from the declarations. */

export type ApiOperation = ReturnType<typeof describe>;
export type ApiParameter = ReturnType<typeof describeParameter>;

export interface ApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly [member: string]: unknown;
}

export function describeApi(routes: readonly ServedRoute[]): ApiDocument {
  const paths: Record<string, Record<string, ApiOperation>> = {};
  const ids = new Set<string>();
  for (const served of routes) {
    for (const parts of variants(served.route.parts)) {
      const path = printTemplate(served, parts);
      paths[path] ??= {};
      const method = served.route.method === 'LIST' ? 'get' : served.route.method.toLowerCase();
      paths[path][method] ??= describe(served, parts, ids);
    }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Coffer',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ serviceToken: [] }, { vaultToken: [] }, { bearer: [] }],
    tags: [...new Set(routes.map(groupOf))].sort().map((name) => ({ name })),
    paths,
    components: COMPONENTS,
  };
}

const DESCRIPTION = [
  'Paths under /v1 are compatible with Vault and OpenBao: transit encryption, logins, tokens and policies. Paths under',
  '/api/v2 are compatible with Terraform Enterprise: the tags of organizations. Transit paths are shown for the mount',
  '"transit"; all other mounts have the same paths. Under /v1, PUT means the same as POST. Lists also accept the HTTP',
  'method LIST, without the parameter "list".',
].join(' ');

/** Returns the paths with and without each optional segment. One that follows another requires it. */
function variants(parts: readonly PathPart[]): readonly (readonly PathPart[])[] {
  const first = parts.findIndex((part) => 'param' in part && part.optional);
  if (first === -1) return [parts];
  const ends = Array.from({ length: parts.length - first + 1 }, (_, count) => first + count);
  return ends.map((end) => parts.slice(0, end));
}

function printTemplate({ operation, route }: ServedRoute, parts: readonly PathPart[]): string {
  const prefix = operation.api === 'json-api' ? '/api/v2/' : '/v1/';
  const path = parts
    .map((part) => ('text' in part ? part.text : `${part.optional ? '/' : ''}{${part.param}}`))
    .join('');
  return prefix + (route.mount === undefined ? '' : `${usualPath(route.mount)}/`) + path;
}

const groupOf = ({ name }: ServedRoute): string => name.split('.')[0] ?? name;

function describe(served: ServedRoute, parts: readonly PathPart[], ids: Set<string>) {
  const { name, summary, operation, route } = served;
  const inPath = new Set(parts.flatMap((part) => ('param' in part ? [part.param] : [])));
  const elsewhere = new Set(pathParams(route));
  const others = Object.fromEntries(
    Object.entries(operation.params).filter(
      ([param]) => !inPath.has(param) && (isOptionalIn(route.parts, param) || !elsewhere.has(param)),
    ),
  );
  const hasBody = route.method === 'POST' || route.method === 'PATCH' || hasDocument(operation);
  const parameters = [
    ...[...inPath].map((param) => describeParameter(param, 'path', operation.params[param])),
    ...(route.method === 'LIST' ? [LIST_PARAMETER] : []),
    ...Object.entries(others)
      .filter(([, param]) => param.document === undefined && (!hasBody || operation.api === 'json-api'))
      .flatMap(([param, declared]) => describeInQuery(param, declared)),
  ];
  return {
    operationId: uniqueId(name, ids),
    summary,
    tags: [groupOf(served)],
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody: hasBody ? describeBody(operation, others) : undefined,
    responses: describeResponses(operation, route.method),
    security: operation.unauthenticated === true ? [] : undefined,
  };
}

const isOptionalIn = (parts: readonly PathPart[], name: string): boolean =>
  parts.some((part) => 'param' in part && part.param === name && part.optional);

const hasDocument = ({ params, resource }: Operation): boolean =>
  resource !== undefined || Object.values(params).some((param) => param.document !== undefined);

function uniqueId(name: string, ids: Set<string>): string {
  let id = name;
  for (let number = 2; ids.has(id); number += 1) id = `${name}.${number}`;
  ids.add(id);
  return id;
}

const LIST_PARAMETER: ApiParameter = {
  name: 'list',
  in: 'query',
  required: true,
  description: 'List the entries below the path.',
  schema: { type: 'string', enum: ['true'] },
};

/** Describes a query parameter; one that consists of several by examples. */
function describeInQuery(name: string, declared: Param<unknown>): readonly ApiParameter[] {
  if (declared.query === undefined) return [describeParameter(name, 'query', declared)];
  const part = { ...declared, schema: { type: 'string', description: declared.help } } as const;
  return declared.query.names.map((written) => describeParameter(written, 'query', part));
}

function describeParameter(name: string, place: 'path' | 'query', param: Param<unknown> | undefined) {
  const { description = '', ...schema }: Schema = param?.schema ?? { type: 'string' };
  return {
    name,
    in: place,
    required: place === 'path' || param?.presence === 'required',
    description,
    schema,
  };
}

function describeBody(operation: Operation, params: Params): object {
  const isDocument = operation.api === 'json-api';
  const schema = isDocument ? documentSchema(operation, params) : membersSchema(Object.entries(params));
  const required = isDocument || (schema.required?.length ?? 0) > 0;
  return { required, content: { [isDocument ? MEDIA_TYPE : JSON_TYPE]: { schema } } };
}

function membersSchema(entries: readonly (readonly [string, Param<unknown>])[]): Schema {
  const required = entries.filter(([, { presence }]) => presence === 'required').map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    required: required.length === 0 ? undefined : required,
  };
}

/** Returns the schema of a JSON:API request body: identifiers, or one resource. */
function documentSchema(operation: Operation, params: Params): Schema {
  const entries = Object.entries(params);
  const [whole] = entries.filter(([, { document }]) => document === 'data');
  if (whole !== undefined) return membersSchema([['data', whole[1]]]);
  if (operation.resource === undefined) return { type: 'object' };
  const place = (document: string) => entries.filter(([, param]) => param.document === document);
  const relationships = place('relationships').map(
    ([name, { schema }]) => [name, { type: 'object', properties: { data: schema } }] as const,
  );
  const properties: Record<string, Schema> = {
    type: { type: 'string', enum: [operation.resource] },
    attributes: membersSchema(place('attributes')),
  };
  if (relationships.length > 0)
    properties['relationships'] = { type: 'object', properties: Object.fromEntries(relationships) };
  const data: Schema = { type: 'object', properties, required: ['type'] };
  return { type: 'object', properties: { data }, required: ['data'] };
}

function describeResponses(operation: Operation, method: Route['method']): object {
  const isDocument = operation.api === 'json-api';
  const media = isDocument ? MEDIA_TYPE : JSON_TYPE;
  const schema = isDocument || operation.bare ? OBJECT : { $ref: '#/components/schemas/Envelope' };
  const error = { $ref: `#/components/responses/${isDocument ? 'DocumentError' : 'Error'}` };
  const failed = hasFailedResult(operation)
    ? {
        description: 'The errors, or the result: that of a batch tells which items failed.',
        content: { [media]: { schema: { anyOf: [{ $ref: '#/components/schemas/Errors' }, schema] } } },
      }
    : error;
  return {
    '204': mayBeEmpty(operation, method) ? { description: 'Success, without content.' } : undefined,
    '2XX': {
      description: isDocument ? 'A document.' : 'The result.',
      content: operation.answersText ? { 'text/plain': { schema: TEXT } } : { [media]: { schema } },
    },
    '4XX': failed,
    '5XX': failed,
  };
}

/** Whether there may be no content: there always is for what reads, except the ping of Terraform, or computes a value. */
function mayBeEmpty({ api, unauthenticated, cli }: Operation, method: Route['method']): boolean {
  const isRead = method === 'GET' || method === 'LIST';
  return isRead ? api === 'json-api' && unauthenticated === true : cli?.result === undefined;
}

/** Whether an answer with the status of an error may have the result: a batch, health, a lookup that finds nothing. */
const hasFailedResult = ({ params, bare, cli }: Operation): boolean =>
  params['batch_input'] !== undefined || bare === true || cli?.missed !== undefined;

const OBJECT: Schema = { type: 'object' };
const TEXT: Schema = { type: 'string' };

const errorsOf = (items: Schema) => ({
  type: 'object',
  required: ['errors'],
  properties: { errors: { type: 'array', items } },
});

const COMPONENTS = {
  securitySchemes: {
    serviceToken: { type: 'apiKey', in: 'header', name: 'X-Service-Token' },
    vaultToken: { type: 'apiKey', in: 'header', name: 'X-Vault-Token' },
    bearer: { type: 'http', scheme: 'bearer' },
  },
  schemas: {
    Envelope: {
      type: 'object',
      required: ['request_id', 'lease_id', 'renewable', 'lease_duration', 'data', 'warnings', 'auth'],
      properties: {
        request_id: { type: 'string', description: 'A UUID; empty if the result is wrapped.' },
        lease_id: TEXT,
        renewable: { type: 'boolean' },
        lease_duration: { type: 'integer' },
        data: { type: ['object', 'null'] },
        wrap_info: {
          type: ['object', 'null'],
          required: ['token', 'accessor', 'ttl', 'creation_time', 'creation_path'],
          properties: {
            token: TEXT,
            accessor: TEXT,
            ttl: { type: 'integer' },
            creation_time: { type: 'string', format: 'date-time' },
            creation_path: TEXT,
            wrapped_accessor: TEXT,
          },
        },
        warnings: { type: ['array', 'null'], items: TEXT },
        auth: { type: ['object', 'null'] },
        mount_type: TEXT,
      },
    },
    Errors: errorsOf(TEXT),
    DocumentErrors: errorsOf({
      type: 'object',
      required: ['status', 'title'],
      properties: { status: TEXT, title: TEXT, detail: TEXT, source: OBJECT },
    }),
  },
  responses: {
    Error: {
      description: 'The errors. For a missing resource, the list may be empty.',
      content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Errors' } } },
    },
    DocumentError: {
      description: 'The errors. Resources that the caller may not see are reported as missing.',
      content: { [MEDIA_TYPE]: { schema: { $ref: '#/components/schemas/DocumentErrors' } } },
    },
  },
} as const;
