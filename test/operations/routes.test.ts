import { describe, expect, it } from 'vitest';
import { operation } from '../../src/operations/declaration/operation.ts';
import { text } from '../../src/operations/declaration/params.ts';
import { type Method, parseRoute, printPath } from '../../src/operations/declaration/route.ts';
import { RouteTable, type ServedRoute } from '../../src/operations/routes.ts';
import { keyName } from '../../src/operations/transit/parameters.ts';

const served = (notation: string): ServedRoute => ({
  name: notation,
  summary: '',
  route: parseRoute(notation),
  operation: operation({
    route: notation,
    capability: 'read',
    params: { name: keyName({ help: '' }), other: text({ help: '' }) },
    run: async () => ({}),
  }),
});

const table = new RouteTable(
  [
    'GET keys/:name',
    'DELETE keys/:name',
    'LIST keys',
    'POST keys/:name/rotate',
    'POST random(/:source)(/:bytes)',
    'POST restore(/:name)',
    'POST draw(/:bytes)',
    'POST draw/:source<platform|seal>',
    'GET mounts/:path+',
    'GET mounts/:path+/tune',
  ].map(served),
);

const found = (method: Method, path: string) => {
  const match = table.match(method, path);
  return typeof match === 'string' ? match : [match.served.name, match.captures];
};

describe('a table of routes', () => {
  it.each<[Method, string, unknown]>([
    ['GET', 'keys/orders', ['GET keys/:name', { name: 'orders' }]],
    ['DELETE', 'keys/a.b-c_d', ['DELETE keys/:name', { name: 'a.b-c_d' }]],
    ['LIST', 'keys', ['LIST keys', {}]],
    ['POST', 'keys/x/rotate', ['POST keys/:name/rotate', { name: 'x' }]],
    ['POST', 'random', ['POST random(/:source)(/:bytes)', {}]],
    ['POST', 'random/platform', ['POST random(/:source)(/:bytes)', { source: 'platform' }]],
    ['POST', 'random/platform/32', ['POST random(/:source)(/:bytes)', { source: 'platform', bytes: '32' }]],
    ['POST', 'draw/32', ['POST draw(/:bytes)', { bytes: '32' }]],
    ['POST', 'draw/seal', ['POST draw/:source<platform|seal>', { source: 'seal' }]],
    ['POST', 'restore', ['POST restore(/:name)', {}]],
    ['POST', 'restore/a/b', ['POST restore(/:name)', { name: 'a/b' }]],
    ['GET', 'mounts/teams/payments', ['GET mounts/:path+', { path: 'teams/payments' }]],
    ['GET', 'mounts/teams/payments/', ['GET mounts/:path+', { path: 'teams/payments' }]],
    ['GET', 'mounts/teams/payments/tune', ['GET mounts/:path+/tune', { path: 'teams/payments' }]],
  ])('leads %s %s to its operation', (method, path, expected) => {
    expect(found(method, path)).toEqual(expected);
  });

  it.each<[Method, string, string]>([
    ['GET', 'keys', 'unsupported-operation'],
    ['POST', 'keys/x', 'unsupported-operation'],
    ['GET', 'random', 'unsupported-operation'],
    ['GET', 'keys/-x', 'unsupported-path'],
    ['GET', 'keys/x.', 'unsupported-path'],
    ['GET', 'keys/a b', 'unsupported-path'],
    ['GET', 'keys/a/b', 'unsupported-path'],
    ['GET', 'keys/x\nkeys/y', 'unsupported-path'],
    ['POST', 'restore/', 'unsupported-path'],
    ['POST', 'draw/', 'unsupported-path'],
    ['GET', 'mounts//teams', 'unsupported-path'],
    ['GET', 'mounts/teams//payments', 'unsupported-path'],
    ['GET', 'mounts/teams//', 'unsupported-path'],
    ['GET', 'mounts/teams//tune', 'unsupported-path'],
    ['GET', 'nothing', 'unsupported-path'],
    ['GET', '', 'unsupported-path'],
    ['GET', '__proto__', 'unsupported-path'],
  ])('finds no operation for %s %j, and says %s', (method, path, expected) => {
    expect(found(method, path)).toBe(expected);
  });
});

describe('a route', () => {
  it('prints paths with its values encoded', () => {
    const values: Readonly<Record<string, string>> = { name: 'a b/ü', path: 'x/y z', source: 'all' };
    const print = (notation: string) => printPath(parseRoute(notation), (param) => values[param]);
    expect(print('GET keys/:name')).toBe('keys/a%20b%2F%C3%BC');
    expect(print('GET mounts/:path+/tune')).toBe('mounts/x/y%20z/tune');
    expect(print('POST random(/:source)(/:bytes)')).toBe('random/all');
  });

  it.each(['FETCH keys', 'keys', 'GET', 'GET keys/(x)'])('is not written %j', (notation) => {
    expect(() => parseRoute(notation)).toThrow('broken route notation');
  });
});
