import type { Exchange } from '../../../src/doors/http/exchange.ts';
import { heldBody } from '../../../src/doors/http/incoming-body.ts';
import { pathParams, printPath, type Route } from '../../../src/operations/declaration/route.ts';
import type { ServedRoute } from '../../../src/operations/routes.ts';
import type { Chance } from '../../chance.ts';
import { anyText, shorterTexts, spoiledText, swollenText } from '../mutation.ts';
import { rawValues } from '../request-values.ts';
import type { Secrets } from '../secrets.ts';
import { type Content, openServedWorld, SECRET_TEXT, type ServedWorld } from '../served-world.ts';
import { Defect, target, type World } from '../target.ts';
import { anyValue, printValue, spoiledDeeply } from '../values.ts';

/** A request without the token itself, so that it can be printed. */
interface Request {
  readonly method: string;
  readonly target: string;
  readonly contentType: string | undefined;
  readonly body: string | undefined;
  readonly token: 'root' | 'reader' | 'garbage' | 'none';
  readonly headers: Readonly<Record<string, string>>;
}

const JSON_API = 'application/vnd.api+json';
const CONTENT_TYPES = [
  JSON_API,
  'application/json',
  'application/x-www-form-urlencoded',
  'text/plain',
  '',
  undefined,
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'LIST', 'HEAD', 'OPTIONS'];
const HEADERS = [
  'x-vault-wrap-ttl',
  'x-vault-namespace',
  'x-coffer-details',
  'accept',
  'host',
  'authorization',
];
const LONG_ONE_IN = 2_000;
/** What leaves less for the cases after it. */
const RUINOUS = /^(?:mounts\.remove|token\.revoke.*|orgs\.delete|transit\.keys\.delete)$/;

function generate(chance: Chance, world: ServedWorld): Request {
  let served = chance.pick(world.routes);
  if (RUINOUS.test(served.name) && !chance.oneIn(20)) served = chance.pick(world.routes);
  const isDocument = served.operation.api === 'json-api';
  const raw = rawValues(chance, world.content, served.operation.params);
  const { method } = served.route;
  const query = queryOf(chance, raw, method === 'GET' || method === 'LIST' || chance.oneIn(20));
  return {
    method: chance.oneIn(20) ? chance.pick(METHODS) : method,
    target: `${pathOf(chance, served, raw)}${query}`,
    contentType: chance.oneIn(15) ? chance.pick(CONTENT_TYPES) : isDocument ? JSON_API : 'application/json',
    body: method === 'GET' || method === 'LIST' ? undefined : bodyOf(chance, served, raw),
    token: chance.oneIn(8) ? chance.pick(['reader', 'garbage', 'none'] as const) : 'root',
    headers: chance.oneIn(12)
      ? {
          [chance.pick(HEADERS)]: chance.oneIn(2)
            ? anyText(chance)
            : chance.pick(['1', 'root', JSON_API, 'x:1']),
        }
      : {},
  };
}

function pathOf(
  chance: Chance,
  { operation, route }: ServedRoute,
  raw: Readonly<Record<string, unknown>>,
): string {
  const prefix =
    operation.api === 'json-api' ? '/api/v2/' : route.mount === undefined ? '/v1/' : '/v1/transit/';
  const path = prefix + printed(route, raw);
  return chance.oneIn(12) ? encodeURI(spoiledText(chance, path).toWellFormed()) : path;
}

/** What a path can't carry, hostile or not, goes without it. */
const printed = (route: Route, raw: Readonly<Record<string, unknown>>): string =>
  printPath(route, (name) => {
    const value = raw[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value).toWellFormed() : undefined;
  });

function queryOf(chance: Chance, raw: Readonly<Record<string, unknown>>, wanted: boolean): string {
  if (!wanted) return '';
  const pairs = Object.entries(raw).map(([name, value]): [string, string] => [name, textOf(value)]);
  if (chance.oneIn(6))
    pairs.push([chance.pick(['page[number]', 'page[size]', 'list', 'help', '__proto__']), anyText(chance)]);
  if (pairs.length === 0) return '';
  const query = new URLSearchParams(pairs).toString();
  return `?${chance.oneIn(10) ? encodeURI(spoiledText(chance, query).toWellFormed()) : query}`;
}

const formOf = (raw: Readonly<Record<string, unknown>>): string =>
  new URLSearchParams(
    Object.entries(raw).map(([name, value]): [string, string] => [name, textOf(value)]),
  ).toString();

const textOf = (value: unknown): string =>
  (typeof value === 'string' ? value : printValue(value)).toWellFormed();

function bodyOf(
  chance: Chance,
  served: ServedRoute,
  raw: Readonly<Record<string, unknown>>,
): string | undefined {
  const inPath = pathParams(served.route);
  const others = Object.fromEntries(Object.entries(raw).filter(([name]) => !inPath.includes(name)));
  const whole = served.operation.api === 'json-api' ? documentOf(chance, served, others) : others;
  if (chance.oneIn(30)) return undefined;
  if (chance.oneIn(30)) return formOf(others);
  const text = printValue(chance.oneIn(6) ? spoiledDeeply(chance, whole) : whole);
  if (chance.oneIn(LONG_ONE_IN)) return swollenText(chance, text, chance.below(800_000));
  return chance.oneIn(10) ? spoiledText(chance, text) : text;
}

function documentOf(
  chance: Chance,
  { operation }: ServedRoute,
  raw: Readonly<Record<string, unknown>>,
): unknown {
  if (chance.oneIn(30)) return anyValue(chance);
  const members = (place: string): [string, unknown][] =>
    Object.entries(raw).filter(([name]) => operation.params[name]?.document === place);
  const [whole] = members('data');
  if (whole !== undefined) return { data: whole[1] };
  return {
    data: {
      type: operation.resource,
      attributes: Object.fromEntries(members('attributes')),
      relationships: Object.fromEntries(members('relationships').map(([name, data]) => [name, { data }])),
    },
  };
}

async function open(_chance: Chance, secrets: Secrets): Promise<World<Request>> {
  const world = await openServedWorld(secrets);
  return {
    generate: (chance) => generate(chance, world),
    check: (request) => check(request, world, secrets),
    print: (request) => JSON.stringify(request),
    *simpler(request) {
      if (request.body === undefined) return;
      for (const body of shorterTexts(request.body)) yield { ...request, body };
    },
    close: () => world.close(),
  };
}

function exchangeOf(request: Request, { tokens }: Content): Exchange {
  const { method, body, contentType, token } = request;
  const text = { root: tokens.root, reader: tokens.reader, garbage: 'cfr.nonsense', none: undefined }[token];
  return {
    method,
    target: request.target,
    headers: {
      ...request.headers,
      'content-type': contentType ?? request.headers['content-type'],
      'x-service-token': text ?? request.headers['x-service-token'],
    },
    body: heldBody(body === undefined ? undefined : Buffer.from(body)),
    remoteAddress: '127.0.0.1',
    origin: 'http://127.0.0.1:8200',
  };
}

async function check(request: Request, world: ServedWorld, secrets: Secrets): Promise<void> {
  const { apis, store, content } = world;
  const before = await store.revision();
  const exchange = exchangeOf(request, content);
  const { status, body } = await apis.take(exchange).answer();
  const text = typeof body === 'string' ? body : Buffer.concat(body ?? []).toString();
  const isProbe = request.target.startsWith('/v1/sys/health');
  if (!Number.isInteger(status) || status < 200 || (status >= 500 && !isProbe)) {
    throw new Defect(`answered ${status}: ${text.slice(0, 300)}`);
  }
  const unchanged = (await store.revision()) === before;
  const mayChange =
    (request.token === 'root' && (status < 400 || ROTATES.test(request.target))) ||
    // An answer that was asked for wrapped is kept until somebody unwraps it.
    (status < 400 && request.headers['x-vault-wrap-ttl'] !== undefined);
  const isBatch = text.includes('"batch_results"');
  if (!unchanged && !mayChange && !isBatch) throw new Defect(`answered ${status} and changed the store`);
  if (request.token !== 'root') secrets.examine(text, 'an answer to a stranger');
  else if (status >= 400 && !isBatch) secrets.examine(text, 'a refusal');
  else if (isBatch) examineErrors(text, secrets);
  if (request.token === 'root' && !unchanged) await world.keepRoot();
  if (request.target.includes('/decrypt/') && status === 200) requireTruth(text);
}

/** A key that is due is rotated by its use, also by one that is refused. */
const ROTATES = /^\/v1\/[^?]*\/(?:encrypt|rewrap|sign|hmac|datakey)\//;
const ERROR_TEXTS = /"error":"(?:[^"\\]|\\.)*"/g;

function examineErrors(text: string, secrets: Secrets): void {
  for (const [error] of text.matchAll(ERROR_TEXTS)) secrets.examine(error, 'the error of an item');
}

/** Everything that can be decrypted here was encrypted here, but for what the cases encrypt: that is their own. */
function requireTruth(text: string): void {
  const { data } = JSON.parse(text) as { data?: { plaintext?: unknown } };
  // Help on the path is answered without data.
  if (data?.plaintext === undefined) return;
  if (data.plaintext !== Buffer.from(SECRET_TEXT).toString('base64'))
    throw new Defect(`decrypted to ${text}`);
}

export const requests = target<Request>({ name: 'requests', cases: 25_000, casesPerWorld: 250, open });
