import { describe, expect, it } from 'vitest';
import { Acl } from '../../src/access/acl.ts';
import { aclOf, check } from './acl-cases.ts';

describe('a policy with exact paths and prefixes', () => {
  const acl = aclOf(`
    path "transit/*"                  { capabilities = ["read", "list"] }
    path "transit/encrypt/*"          { capabilities = ["create", "update"] }
    path "transit/encrypt/orders"     { capabilities = ["update"] }
    path "transit/encrypt/orders-*"   { capabilities = ["deny"] }
    path "transit/keys/orders"        { capabilities = ["read", "delete", "sudo"] }
    path "transit/keys/secret"        { capabilities = ["deny"] }
    path "transit/keys/empty"         { capabilities = [] }
    path "sys/mounts"                 { capabilities = ["read"] }
    path "/sys/policies/acl/*"        { capabilities = ["list"] }
    path "sys/seal"                   { capabilities = ["update", "sudo"] }
    path "deny/first"                 { capabilities = ["read", "deny", "update"] }
  `);
  check(
    acl,
    `
    transit/keys/other              read    yes
    transit/keys/other              list    yes
    transit/keys/other              update  no
    transit/keys/other              create  no
    transit/keys/other              delete  no
    transit/keys/other              sudo    no
    transit/keys                    list    yes
    transit/keys/                   list    yes
    transit/                        read    yes
    transit                         read    no
    transit                         list    yes
    transitory/keys                 read    no
    Transit/keys/other              read    no
    transit/encrypt/a               create  yes
    transit/encrypt/a               update  yes
    transit/encrypt/a               read    no
    transit/encrypt/a               list    no
    transit/encrypt/a/b/c           update  yes
    transit/encrypt/                update  yes
    transit/encrypt                 read    yes
    transit/encrypt                 update  no
    transit/encrypt/orders          update  yes
    transit/encrypt/orders          create  no
    transit/encrypt/orders          read    no
    transit/encrypt/orders/         update  yes
    transit/encrypt/orders/         create  no
    transit/encrypt/orders-2026     update  no
    transit/encrypt/orders-2026     create  no
    transit/encrypt/orders-         update  no
    transit/encrypt/order           create  yes
    transit/keys/orders             read    yes
    transit/keys/orders             delete  yes
    transit/keys/orders             sudo    yes
    transit/keys/orders             list    no
    transit/keys/orders/config      read    yes
    transit/keys/orders/config      delete  no
    transit/keys/secret             read    no
    transit/keys/secret             list    no
    transit/keys/secret             delete  no
    transit/keys/secret/            read    no
    transit/keys/secrets            read    yes
    transit/keys/empty              read    no
    sys/mounts                      read    yes
    sys/mounts                      list    no
    sys/mounts/                     read    no
    sys/mounts/transit              read    no
    sys/policies/acl                list    yes
    sys/policies/acl/               list    yes
    sys/policies/acl/x              list    yes
    sys/policies/acl                read    no
    sys/seal                        update  yes
    sys/seal                        sudo    yes
    sys/seal                        read    no
    deny/first                      read    no
    deny/first                      update  no
    (empty)                         read    no
    /transit/keys/other             read    yes
    `,
  );
});

describe('a final slash', () => {
  const acl = aclOf(`
    path "transit/*"             { capabilities = ["read", "update"] }
    path "transit/export/a/b"    { capabilities = ["deny"] }
    path "transit/keys/c"        { capabilities = ["update"] }
    path "sys/mounts/d/"         { capabilities = ["read"] }
    path "sys/mounts/e"          { capabilities = ["read"] }
    path "sys/mounts/f/*"        { capabilities = ["read"] }
  `);
  check(
    acl,
    `
    transit/export/a/b              read    no
    transit/export/a/b/             read    no
    transit/export/a/b//            read    no
    transit/export/a/c/             read    yes
    transit/keys/c/                 read    no
    transit/keys/c/                 update  yes
    sys/mounts/d/                   read    yes
    sys/mounts/d                    read    no
    sys/mounts/e/                   read    no
    sys/mounts/f/                   read    yes
    sys/mounts/g/                   read    no
    `,
  );
});

describe('listing', () => {
  it.each([
    ['with the slash', 'transit/keys/'],
    ['without the slash', 'transit/keys'],
    ['by a prefix', 'transit/*'],
    ['by a segment that is empty at the end', 'transit/keys/+'],
    ['by a segment', 'transit/+'],
  ])('is granted by a rule %s', (_, pattern) => {
    const acl = aclOf(`path "${pattern}" { capabilities = ["list"] }`);
    expect(acl.allows('transit/keys', 'list')).toBe(true);
    expect(acl.allows('transit/keys/', 'list')).toBe(true);
  });

  it('asks the rule with the slash first', () => {
    const acl = aclOf('path "a/" { capabilities = ["deny"] } path "a" { capabilities = ["list"] }');
    expect(acl.allows('a', 'list')).toBe(false);
  });

  it('is refused by a segment rule without the slash, even where a wider one has it', () => {
    const acl = aclOf('path "a/+" { capabilities = ["deny"] } path "*" { capabilities = ["list"] }');
    expect(acl.allows('a/b/', 'list')).toBe(false);
    expect(aclOf('path "a/+" { capabilities = ["deny"] }').allows('a/b/', 'list')).toBe(false);
  });

  it('is not granted by a wider prefix where a segment rule refuses', () => {
    const acl = aclOf(
      'path "auth/*" { capabilities = ["read", "list"] } path "auth/+/role" { capabilities = ["deny"] }',
    );
    expect(acl.allows('auth/approle/role', 'list')).toBe(false);
    expect(acl.allows('auth/approle/role/', 'list')).toBe(false);
    expect(acl.allows('auth/approle/login', 'list')).toBe(true);
    expect(acl.allows('auth/approle/role/x', 'list')).toBe(true);
    expect(acl.capabilities('auth/approle/role')).toEqual(['deny']);
    expect(acl.capabilities('auth/approle/role/')).toEqual(['deny']);
  });

  it('is granted by a wider prefix where a segment rule grants other things, as by peers', () => {
    const acl = aclOf(
      'path "auth/*" { capabilities = ["read", "list"] } path "auth/+/role" { capabilities = ["update"] }',
    );
    expect(acl.allows('auth/approle/role', 'list')).toBe(true);
    expect(acl.allows('auth/approle/role', 'update')).toBe(true);
    expect(acl.allows('auth/approle/role', 'read')).toBe(false);
  });

  it('is granted by the rule with the slash, however the one without it says', () => {
    const acl = aclOf('path "a/b/*" { capabilities = ["list"] } path "a/+" { capabilities = ["deny"] }');
    expect(acl.allows('a/b', 'list')).toBe(true);
    expect(acl.allows('a/c', 'list')).toBe(false);
  });
});

describe('capabilities', () => {
  it('are sorted, root for root and deny for none', () => {
    expect(Acl.root.capabilities('any/path')).toEqual(['root']);
    expect(aclOf('').capabilities('a')).toEqual(['deny']);
    const all = '["update", "sudo", "read", "patch", "list", "delete", "create"]';
    expect(aclOf(`path "a" { capabilities = ${all} }`).capabilities('a')).toEqual([
      'create',
      'delete',
      'list',
      'patch',
      'read',
      'sudo',
      'update',
    ]);
  });

  it('of a path with a slash are those of the path without', () => {
    expect(aclOf('path "a" { capabilities = ["list"] }').capabilities('a/')).toEqual(['list']);
  });
});

describe('root', () => {
  it('may do everything', () => {
    for (const capability of ['create', 'read', 'update', 'delete', 'list', 'sudo'] as const) {
      expect(Acl.root.allows('sys/seal', capability, { any: 'thing' })).toBe(true);
    }
    expect(Acl.root.reaches('transit/')).toBe(true);
  });
});

describe('what reaches a mount', () => {
  it.each([
    ['+', 'foo/', true],
    ['+/*', 'foo/', true],
    ['foo/+/+/*', 'foo/', true],
    ['foo/+/+/*', 'foo/bar/', true],
    ['foo/+/+/*', 'foo/bar/bar/baz/', true],
    ['foo/+/+/baz', 'foo/bar/bar/baz/', true],
    ['foo/bar/+/b*', 'foo/bar/bar/baz/', true],
    ['foo/+', 'foo/', true],
    ['foo/+', 'foo/bar/baz/', false],
    ['bar/+', 'foo/', false],
    ['foo/keys/orders', 'foo/', true],
    ['foo/keys/*', 'foo/', true],
    ['foo/*', 'foo/', true],
    ['fo*', 'foo/', true],
    ['foo', 'foo/', true],
    ['foobar/*', 'foo/', false],
    ['bar/*', 'foo/', false],
  ])('a rule for %s reaches %s: %s', (pattern, mount, reached) => {
    expect(aclOf(`path "${pattern}" { capabilities = ["read"] }`).reaches(mount)).toBe(reached);
    expect(aclOf(`path "${pattern}" { capabilities = ["deny"] }`).reaches(mount)).toBe(false);
  });

  it('is a grant below a refusal, and not a refused wider grant', () => {
    const below = 'path "foo/*" { capabilities = ["deny"] } path "foo/keys/a" { capabilities = ["read"] }';
    expect(aclOf(below).reaches('foo/')).toBe(true);
    const wider = 'path "*" { capabilities = ["read"] } path "foo/*" { capabilities = ["deny"] }';
    expect(aclOf(wider).reaches('foo/')).toBe(false);
  });

  it.each([
    ['foo/sec*', 'foo/secret/', false],
    ['foo/secret/*', 'foo/secret/', false],
    ['foo/secret/t*', 'foo/secret/', true],
    ['foo/+/*', 'foo/secret/', true],
    ['foo/*', 'foo/secret/', true],
    ['foo/sec*', 'foo/open/', true],
  ])(
    'is no segment rule below a refusal of %s, which is the more specific: of %s %s',
    (refused, mount, is) => {
      const acl = aclOf(
        `path "foo/+/tags" { capabilities = ["list"] } path "${refused}" { capabilities = ["deny"] }`,
      );
      expect(acl.reaches(mount)).toBe(is);
    },
  );
});

describe('the memory of paths', () => {
  it('gives the same verdicts past its bound', () => {
    const acl = aclOf('path "a/+/x" { capabilities = ["read"] }');
    for (let i = 0; i < 10_000; i++) {
      expect(acl.allows(`a/${i}/x`, 'read')).toBe(true);
      expect(acl.allows(`a/${i}/y`, 'read')).toBe(false);
    }
  });
});
