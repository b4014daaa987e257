import { describe, expect, it } from 'vitest';
import { printRequest } from '../../src/client/request.ts';
import { remove as removeMount } from '../../src/operations/sys/mounts.ts';
import { remove as deletePolicy } from '../../src/operations/sys/policies.ts';
import { show as showOrganization } from '../../src/operations/tags/organizations.ts';
import { declaration as decrypt } from '../../src/operations/transit/decrypt.ts';
import { declaration as sign } from '../../src/operations/transit/sign.ts';
import { refusal } from '../refusal.ts';

const BEARER = { token: 't', namespace: undefined };

describe('the path of a request', () => {
  it('has names encoded, so that each stays where it belongs', () => {
    const { target } = printRequest(showOrganization, { organization_name: 'a/b?c#d' }, 'transit', BEARER);
    expect(target).toBe('/api/v2/organizations/a%2Fb%3Fc%23d');
    expect(printRequest(removeMount, { path: 'teams/a.b' }, 'transit', BEARER).target).toBe(
      '/v1/sys/mounts/teams/a.b',
    );
  });

  it.each([[{}], [{ name: '' }], [{ name: null }], [{ name: ['k'] }]])(
    'is none where it has a name that is missing: %j',
    (raw) => {
      expect(refusal(() => printRequest(decrypt, { ciphertext: 'x', ...raw }, 'transit', BEARER))).toEqual({
        kind: 'invalid',
        message: 'missing name',
        field: 'name',
      });
    },
  );

  it.each([
    ['an organization', showOrganization, { organization_name: '..' }, 'transit', 'organization_name ".."'],
    ['a policy', deletePolicy, { name: '.' }, 'transit', 'name "."'],
    ['a mount', removeMount, { path: 'a/../../policies/acl/x' }, 'transit', 'path "a/../../policies/acl/x"'],
    [
      'the mount of a key',
      decrypt,
      { name: 'k', ciphertext: 'service:v1:AAAA' },
      '../api/v2',
      'mount "../api/v2"',
    ],
  ] as const)('does not leave its place by the name of %s', (_, operation, raw, mount, named) => {
    expect(refusal(() => printRequest(operation, raw, mount, BEARER))).toMatchObject({
      kind: 'invalid',
      message: `${named} is not allowed`,
    });
  });
});

describe('the headers of a request', () => {
  it('have the token and the namespace only where there is one, in the words of each API', () => {
    const headersOf = (operation: typeof deletePolicy | typeof showOrganization, bearer: object) => {
      const raw = { name: 'p', organization_name: 'o' };
      return printRequest(operation, raw, 'transit', { token: undefined, namespace: undefined, ...bearer })
        .headers;
    };
    const family = { accept: 'application/json', 'x-coffer-details': '1', 'x-vault-request': 'true' };
    expect(headersOf(deletePolicy, {})).toEqual(family);
    expect(headersOf(deletePolicy, { token: 't', namespace: 'n' })).toEqual({
      ...family,
      'x-service-token': 't',
      'x-vault-token': 't',
      'x-vault-namespace': 'n',
    });
    const document = { accept: 'application/vnd.api+json', 'x-coffer-details': '1' };
    expect(headersOf(showOrganization, {})).toEqual(document);
    expect(headersOf(showOrganization, { token: 't', namespace: 'n' })).toEqual({
      ...document,
      authorization: 'Bearer t',
    });
  });
});

describe('the body of a request', () => {
  it('names a hash as every server of the family reads it, and not in the path', () => {
    const raw = { name: 'k', input: 'AAAA', algorithm: 'sha2-512' };
    const { target, body } = printRequest(sign, raw, 'transit', BEARER);
    expect(target).toBe('/v1/transit/sign/k');
    expect(JSON.parse(body ?? '')).toEqual({ input: 'AAAA', hash_algorithm: 'sha2-512' });
  });
});
