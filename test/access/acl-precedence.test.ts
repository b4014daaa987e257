import { describe, expect, it } from 'vitest';
import { aclOf, check } from './acl-cases.ts';

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

  it('adds up what each of them grants', () => {
    const acl = aclOf(read, update);
    expect(acl.capabilities('a/b')).toEqual(['read', 'update']);
  });

  it.each([
    ['first', [deny, read, update]],
    ['second', [read, deny, update]],
    ['last', [read, update, deny]],
  ] as const)('is refused when the %s of them refuses', (_, policies) => {
    expect(aclOf(...policies).capabilities('a/b')).toEqual(['deny']);
  });

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
