import { describe, expect, it } from 'vitest';
import { asCofferError } from '../../../src/ground/errors.ts';
import type { Mount } from '../../../src/mounts/mount.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { openCore } from '../../../src/operations/core.ts';
import { pathParams } from '../../../src/operations/declaration/route.ts';
import {
  DocumentEndpoints,
  type Endpoint,
  VaultEndpoints,
} from '../../../src/operations/pipeline/endpoints.ts';
import { StoreLook } from '../../../src/operations/pipeline/store-look.ts';
import { loadRoutes } from '../../../src/operations/routes.ts';
import { memoryStore } from '../../store/memory-store.ts';

const routes = await loadRoutes(catalogue);
const core = openCore(await memoryStore());
const [transit] = await core.mounts.list();
const mounted = (path: string, type: string): Mount => ({ ...(transit as Mount), path, type });
const look = new StoreLook('1-1', [mounted('transit', 'transit'), mounted('auth/people', 'userpass')]);
const endpoints = new VaultEndpoints(routes);
const documents = new DocumentEndpoints(routes);
const pathsOf = async (endpoint: Endpoint) => (await endpoint.policyPaths(core)).paths;

describe('what a request names', () => {
  it.each([
    ['sys/policies/acl/Admin', ['sys/policies/acl/Admin', 'sys/policies/acl/admin']],
    ['sys/policies/acl/admin/', ['sys/policies/acl/admin/', 'sys/policies/acl/admin']],
    ['sys/policies/acl/Team/App', ['sys/policies/acl/Team/App', 'sys/policies/acl/team/app']],
    ['auth/people/users/ADA', ['auth/people/users/ADA', 'auth/people/users/ada']],
    ['transit/keys/Orders', ['transit/keys/Orders']],
    ['nothing/at/all', ['nothing/at/all']],
  ])('has policies asked about every spelling of %s', async (path, paths) => {
    expect(await pathsOf(endpoints.at(look, 'GET', path))).toEqual(paths);
  });

  it('has policies asked about a tag by the name that it has', async () => {
    expect(await pathsOf(documents.at(look, 'GET', 'organizations/Acme/tags/%50ROD'))).toEqual([
      'organizations/Acme/tags/PROD',
      'organizations/Acme/tags/prod',
    ]);
  });

  it('is answered from the revision of the look at the store', () => {
    expect(endpoints.at(look, 'GET', 'transit/keys/x').revision).toBe('1-1');
    expect(documents.at(look.asOf('1-2'), 'GET', 'organizations').revision).toBe('1-2');
  });

  it('can not be made up by a door', () => {
    const { revision, method, path, match, operation, mount, isOpenPath, policyPrefix } = endpoints.at(
      look,
      'GET',
      'transit/keys/x',
    );
    const policyPaths = () => ({ paths: [] });
    // @ts-expect-error Only the class itself has its private part.
    const forged: Endpoint = {
      ...{ revision, method, path, match, operation, mount, isOpenPath, policyPrefix },
      policyPaths,
    };
    expect(forged).not.toBe(undefined);
  });
});

describe('an operation that a door names', () => {
  const read = routes.find(({ name }) => name === 'transit.keys.read');
  if (read === undefined) throw new Error('there is no such operation');
  const matchOf = (mount: string, name: unknown) => {
    const { match } = endpoints.of(look, read, mount, { name });
    return typeof match === 'string' ? match : match.captures;
  };

  it('is found by its path', () => {
    expect(matchOf('transit', 'orders')).toEqual({ name: 'orders' });
    expect(endpoints.of(look, read, 'transit', { name: 'orders' }).path).toBe('transit/keys/orders');
  });

  it.each(['orders/config', 'orders/', '', '../keys/orders', undefined, { name: 'orders' }])(
    'leads to no other one by a value that is no name: %j',
    (name) => {
      expect(matchOf('transit', name)).toBe('unsupported-path');
    },
  );

  it('takes no part of a value for another parameter', () => {
    const sign = routes.find(({ name }) => name === 'transit.sign');
    if (sign === undefined) throw new Error('there is no such operation');
    const at = (values: object) => endpoints.of(look, sign, 'transit', { ...values }).match;
    expect(at({ name: 'orders', hash_algorithm: 'sha2-256' })).toMatchObject({
      captures: { name: 'orders', hash_algorithm: 'sha2-256' },
    });
    expect(at({ name: 'orders/sha2-256' })).toBe('unsupported-path');
  });

  it('is not at mounts of another type', () => {
    expect(matchOf('auth/people', 'orders')).toBe('unsupported-path');
    expect(matchOf('elsewhere', 'orders')).toBe('unsupported-path');
  });
});

describe('a parameter in a path', () => {
  it.each(['Ada', 'ADA', ' ada', 'ada ', '\tada', 'ada/', 'ÄDA'])(
    'that reads %j as another name says so, so that policies are asked about that one, too',
    (given) => {
      const silent = routes.flatMap(({ name, operation, route }) =>
        pathParams(route).filter((param) => {
          const { parse, understoodAs } = operation.params[param] ?? {};
          const read = readAs(() => parse?.(given, param));
          return typeof read === 'string' && read !== given && understoodAs?.(given) !== read
            ? [`${name} ${param}`]
            : false;
        }),
      );
      expect(silent).toEqual([]);
    },
  );
});

function readAs(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return undefined;
  }
}
