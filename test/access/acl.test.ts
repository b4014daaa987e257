import { describe, expect, it } from 'vitest';
import { Acl } from '../../src/access/acl.ts';
import type { Capability } from '../../src/access/capability.ts';
import { parsePolicy } from '../../src/access/policy.ts';

const aclOf = (...policies: string[]): Acl => new Acl(policies.flatMap((text) => parsePolicy(text).rules));

/** Each line: path, capability, whether it is allowed. */
function casesOf(table: string): [path: string, capability: Capability, allowed: boolean][] {
  return table
    .trim()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [path = '', capability = '', verdict = ''] = line.trim().split(/\s+/);
      if (verdict !== 'yes' && verdict !== 'no') throw new Error(`bad line: ${line}`);
      return [path === '(empty)' ? '' : path, capability as Capability, verdict === 'yes'];
    });
}

function check(acl: Acl, table: string): void {
  it.each(casesOf(table))('%s %s: %s', (path, capability, allowed) => {
    expect(acl.allows(path, capability)).toBe(allowed);
    // Once more, from the memory of paths.
    expect(acl.allows(path, capability)).toBe(allowed);
  });
}

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

describe('several policies of one token', () => {
  const acl = aclOf(
    `
    path "dev/*"              { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }
    path "stage/*"            { capabilities = ["create", "read", "update", "delete", "list"] }
    path "stage/aws/*"        { capabilities = ["read", "list", "sudo"] }
    path "prod/*"             { capabilities = ["read", "list"] }
    path "prod/aws/*"         { capabilities = ["deny"] }
    path "sys/*"              { capabilities = ["deny"] }
    path "+/+/shared"         { capabilities = ["read"] }
    `,
    `
    path "dev/hidden/*"       { capabilities = ["deny"] }
    path "stage/aws/policy/*" { capabilities = ["deny"] }
    path "prod/*"             { capabilities = ["create", "update", "delete"] }
    path "prod/aws/*"         { capabilities = ["read", "update"] }
    path "sys/seal"           { capabilities = ["update", "sudo"] }
    path "+/+/shared"         { capabilities = ["update"] }
    `,
  );
  check(
    acl,
    `
    dev/foo                read    yes
    dev/foo                sudo    yes
    dev/hidden             read    yes
    dev/hidden             list    no
    dev/hidden/foo         read    no
    dev/hidden/foo         sudo    no
    stage/foo              delete  yes
    stage/foo              sudo    no
    stage/aws/foo          list    yes
    stage/aws/foo          sudo    yes
    stage/aws/foo          update  no
    stage/aws/policy/foo   read    no
    prod/foo               read    yes
    prod/foo               delete  yes
    prod/foo               create  yes
    prod/foo               sudo    no
    prod/aws/foo           read    no
    prod/aws/foo           update  no
    prod/aws               read    yes
    sys/status             read    no
    sys/seal               update  yes
    sys/seal               sudo    yes
    sys/seal               read    no
    any/thing/shared       read    yes
    any/thing/shared       update  yes
    any/thing/shared       delete  no
    prod/thing/shared      delete  yes
    `,
  );
});

describe('a policy with segments that match anything', () => {
  const acl = aclOf(`
    path "+"                        { capabilities = ["list"] }
    path "+/+"                      { capabilities = ["list"] }
    path "a/+/segment"              { capabilities = ["read"] }
    path "a/segment/at/fr+nt"       { capabilities = ["read"] }
    path "a/segment/at/front"       { capabilities = ["update"] }
    path "b/+/end/+"                { capabilities = ["read"] }
    path "b/+/end/v2/+/"            { capabilities = ["read"] }
    path "c/+/wild/+/*"             { capabilities = ["read"] }
    path "c/+/wild/x/y*"            { capabilities = ["update"] }
    path "1/2/*"                    { capabilities = ["create"] }
    path "1/2/+"                    { capabilities = ["read"] }
    path "1/2/+/+"                  { capabilities = ["update"] }
    path "d/+plus/x"                { capabilities = ["read"] }
  `);
  check(
    acl,
    `
    a                        list    yes
    a                        read    no
    a/b                      list    yes
    a/x/segment              read    yes
    a/y/segment              read    yes
    a//segment               read    yes
    a/x/y/segment            read    no
    a/x/segment/             read    no
    a/x/segments             read    no
    a/segment/at/front       update  yes
    a/segment/at/front       read    no
    a/segment/at/fr+nt       read    yes
    a/segment/at/frXnt       read    no
    b/x/end/y                read    yes
    b/x/end/y/               read    no
    b/x/end/                 read    yes
    b/x/end                  read    no
    b/x/end/v2/y/            read    yes
    b/x/end/v2/y             read    no
    b/x/y/end/z              read    no
    c/a/wild/b/              read    yes
    c/a/wild/b               read    no
    c/a/wild/b/c/d/e         read    yes
    c/a/wild/x/z             read    yes
    c/a/wild/x/y             update  yes
    c/a/wild/x/y             read    no
    c/a/wild/x/yes/more      update  yes
    1/2/3                    read    yes
    1/2/3                    create  no
    1/2/3/4                  update  yes
    1/2/3/4                  create  no
    1/2/3/4/5                create  yes
    1/2/3/4/5                update  no
    1/2/                     read    yes
    d/+plus/x                read    yes
    d/aplus/x                read    no
    `,
  );
});

describe('of two patterns for one path', () => {
  // Each time the second rule, which grants update, is the more specific one and wins alone.
  it.each([
    ['a plain prefix over a segment at the same place', '+/*', '*', 'foo/bar/bar/baz'],
    ['the later first wildcard', '+/*', 'foo/+/*', 'foo/bar/bar/baz'],
    [
      'the later first wildcard, however early in the alphabet',
      'foo/+/(ar/baz',
      'foo/(ar/+/baz',
      'foo/(ar/(ar/baz',
    ],
    ['the longer prefix', 'foo/*', 'foo/b*', 'foo/bar'],
    ['the prefix that reaches past a segment', 'foo/+/x', 'foo/ba*', 'foo/bar/x'],
    ['the exact path over all', 'foo/ba*', 'foo/bar', 'foo/bar'],
    ['the exact path over a segment', 'foo/+', 'foo/bar', 'foo/bar'],
    ['the pattern without a star', 'foo/bar/+/baz*', 'foo/bar/+/baz', 'foo/bar/bar/baz'],
    ['a segment over a star in the same place', 'foo/*', 'foo/+', 'foo/bar'],
    ['fewer wildcard segments', 'foo/+/+/baz', 'foo/+/bar/baz', 'foo/bar/bar/baz'],
    ['no star over fewer wildcard segments', 'foo/+/bar/b*', 'foo/+/+/baz', 'foo/bar/bar/baz'],
    ['the longer pattern', 'foo/bar/+/b*', 'foo/bar/+/ba*', 'foo/bar/bar/baz'],
    ['the one that sorts later when nothing else differs', 'foo/+/+/b', 'foo/+/a/+', 'foo/x/a/b'],
  ])('%s wins', (_, weaker, stronger, path) => {
    const rules = [
      `path "${weaker}" { capabilities = ["read"] }`,
      `path "${stronger}" { capabilities = ["update"] }`,
    ];
    for (const policies of [rules, rules.toReversed()]) {
      const acl = aclOf(...policies);
      expect(acl.allows(path, 'update')).toBe(true);
      expect(acl.allows(path, 'read')).toBe(false);
    }
  });

  it('lets a refusal in a less specific rule not touch a more specific grant', () => {
    const acl = aclOf('path "a/*" { capabilities = ["deny"] }', 'path "a/b" { capabilities = ["read"] }');
    expect(acl.allows('a/b', 'read')).toBe(true);
    expect(acl.allows('a/c', 'read')).toBe(false);
  });

  it('does not add up what different patterns grant', () => {
    const acl = aclOf('path "a/*" { capabilities = ["read"] } path "a/b" { capabilities = ["update"] }');
    expect(acl.allows('a/b', 'read')).toBe(false);
  });
});

describe('the same pattern in several policies', () => {
  const read = 'path "a/*" { capabilities = ["read"] }';
  const update = 'path "a/*" { capabilities = ["update"] }';
  const deny = 'path "a/*" { capabilities = ["deny"] }';

  it('adds up', () => {
    const acl = aclOf(read, update);
    expect(acl.capabilities('a/b')).toEqual(['read', 'update']);
  });

  it.each([[[deny, read, update]], [[read, deny, update]], [[read, update, deny]]])(
    'is refused when one refuses, in any order',
    (policies) => {
      expect(aclOf(...policies).capabilities('a/b')).toEqual(['deny']);
    },
  );

  it('is one pattern with or without a leading slash, and two with or without a star', () => {
    expect(aclOf(read, 'path "/a/*" { capabilities = ["list"] }').capabilities('a/b')).toEqual([
      'list',
      'read',
    ]);
    expect(aclOf(read, 'path "a/" { capabilities = ["list"] }').capabilities('a/b')).toEqual(['read']);
    expect(
      aclOf(
        'path "a/+/x" { capabilities = ["read"] }',
        'path "a/+/x" { capabilities = ["deny"] }',
      ).capabilities('a/b/x'),
    ).toEqual(['deny']);
  });
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

  it('is refused by a segment rule without the slash when no rule has it', () => {
    const acl = aclOf('path "a/+" { capabilities = ["deny"] } path "*" { capabilities = ["list"] }');
    expect(acl.allows('a/b/', 'list')).toBe(true);
    expect(aclOf('path "a/+" { capabilities = ["deny"] }').allows('a/b/', 'list')).toBe(false);
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

describe('a mount is reached', () => {
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
  ])('by %s: %s %s', (pattern, mount, reached) => {
    expect(aclOf(`path "${pattern}" { capabilities = ["read"] }`).reaches(mount)).toBe(reached);
    expect(aclOf(`path "${pattern}" { capabilities = ["deny"] }`).reaches(mount)).toBe(false);
  });

  it('through a grant below a refusal, and not through a refused wider grant', () => {
    const below = 'path "foo/*" { capabilities = ["deny"] } path "foo/keys/a" { capabilities = ["read"] }';
    expect(aclOf(below).reaches('foo/')).toBe(true);
    const wider = 'path "*" { capabilities = ["read"] } path "foo/*" { capabilities = ["deny"] }';
    expect(aclOf(wider).reaches('foo/')).toBe(false);
  });
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
