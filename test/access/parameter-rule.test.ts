import { describe, expect, it } from 'vitest';
import { Acl } from '../../src/access/acl.ts';
import { parsePolicy } from '../../src/access/policy.ts';

const aclOf = (...policies: string[]): Acl => new Acl(policies.flatMap((text) => parsePolicy(text).rules));

const CAPABILITIES = 'capabilities = ["create", "read", "update", "delete", "list"]';

/** Whether a request with these parameters passes a rule. */
const passes = (rule: string, parameters: Record<string, unknown>): boolean =>
  aclOf(`path "p" { ${CAPABILITIES} ${rule} }`).allows('p', 'update', parameters);

describe('required parameters', () => {
  const rule = 'required_parameters = ["context", "Nonce"]';
  it.each([
    [{}, false],
    [{ context: 'x' }, false],
    [{ context: 'x', nonce: '' }, true],
    [{ context: null, nonce: null, more: 1 }, true],
  ])('let a request with %j pass: %s', (parameters, allowed) => {
    expect(passes(rule, parameters)).toBe(allowed);
  });
});

describe('denied parameters', () => {
  it.each([
    ['{ "type" = [] }', {}, true],
    ['{ "type" = [] }', { type: 'x' }, false],
    ['{ "type" = [] }', { TYPE: 'x' }, false],
    ['{ "Type" = [] }', { type: 'x' }, false],
    ['{ "type" = [] }', { other: 'x' }, true],
    ['{ "*" = [] }', { other: 'x' }, false],
    ['{ "*" = [] }', {}, true],
    ['{ "type" = ["rsa-*"] }', { type: 'rsa-2048' }, false],
    ['{ "type" = ["rsa-*"] }', { type: 'ed25519' }, true],
    ['{ "type" = ["*-2048"] }', { type: 'rsa-2048' }, false],
    ['{ "type" = ["*sa-2*"] }', { type: 'rsa-2048' }, false],
    ['{ "type" = ["*"] }', { type: 'rsa-2048' }, true],
    ['{ "type" = ["*"] }', { type: '*' }, false],
    ['{ "n" = [1, true] }', { n: 1 }, false],
    ['{ "n" = [1, true] }', { n: '1' }, false],
    ['{ "n" = ["1"] }', { n: 1 }, false],
    ['{ "n" = [1, true] }', { n: true }, false],
    ['{ "n" = [1, true] }', { n: 2 }, true],
    ['{ "n" = [null] }', { n: null }, false],
    ['{ "n" = [null] }', { n: 'null' }, true],
    ['{ "policies" = ["root"] }', { policies: ['app', 'root'] }, false],
    ['{ "policies" = ["root"] }', { policies: ['app'] }, true],
    ['{ "policies" = [["root"]] }', { policies: ['root'] }, false],
    ['{ "policies" = [["root"]] }', { policies: ['root', 'app'] }, true],
    ['{ "policies" = [["root"]] }', { policies: ['app'] }, true],
    ['{ "policies" = ["root"] }', { policies: ['app', ' Root'] }, false],
    ['{ "type" = ["RSA-2048"] }', { type: 'rsa-2048' }, false],
    ['{ "type" = ["rsa-*"] }', { type: ' RSA-2048' }, false],
  ])('%s, given %j: %s', (denied, parameters, allowed) => {
    expect(passes(`denied_parameters = ${denied}`, parameters)).toBe(allowed);
  });
});

describe('denied values that were sent in another spelling', () => {
  const acl = aclOf(`path "p" { ${CAPABILITIES} denied_parameters = { "flag" = [true], "list" = ["b"] } }`);

  it('are found in what the operation understands by them', () => {
    expect(acl.allows('p', 'update', { flag: 't' }, () => ({ flag: true }))).toBe(false);
    expect(acl.allows('p', 'update', { flag: 'f' }, () => ({ flag: false }))).toBe(true);
    expect(acl.allows('p', 'update', { list: 'a, b' }, () => ({ list: ['a', 'b'] }))).toBe(false);
    expect(acl.allows('p', 'update', { list: 'a, c' }, () => ({ list: ['a', 'c'] }))).toBe(true);
  });

  it('are not looked for when no value is denied', () => {
    const other = aclOf(`path "p" { ${CAPABILITIES} allowed_parameters = { "flag" = [] } }`);
    const notAsked = (): never => {
      throw new Error('was asked');
    };
    expect(other.allows('p', 'update', { flag: 't' }, notAsked)).toBe(true);
  });
});

describe('allowed parameters', () => {
  it.each([
    ['{}', { any: 1 }, true],
    ['{ "type" = [] }', {}, true],
    ['{ "type" = [] }', { type: 'x' }, true],
    ['{ "type" = [] }', { other: 'x' }, false],
    ['{ "type" = [], "*" = [] }', { other: 'x' }, true],
    ['{ "type" = ["a"], "*" = [] }', { type: 'b' }, false],
    ['{ "type" = ["a"], "*" = [] }', { type: 'a', other: 1 }, true],
    ['{ "*" = ["a"] }', { other: 'x' }, true],
    ['{ "type" = ["a", "b*"] }', { type: 'bc' }, true],
    ['{ "type" = ["a", "b*"] }', { type: 'ab' }, false],
    ['{ "type" = ["a"] }', { type: 'A' }, false],
    ['{ "l" = [["a", 1]] }', { l: ['a', 1] }, true],
    ['{ "l" = [["a", 1]] }', { l: ['a'] }, false],
    ['{ "l" = [["a", 1]] }', { l: ['a', 1, 'b'] }, false],
    ['{ "l" = [["a", 1]] }', { l: ['a', 2] }, false],
    ['{ "l" = [["a", 1]] }', { l: ['b', 1] }, false],
    ['{ "l" = ["a"] }', { l: ['a'] }, false],
    ['{ "o" = ["a"] }', { o: { a: 1 } }, false],
    ['{ "o" = [] }', { o: { a: 1 } }, true],
  ])('%s, given %j: %s', (allowed, parameters, verdict) => {
    expect(passes(`allowed_parameters = ${allowed}`, parameters)).toBe(verdict);
  });

  it('yield to denied parameters', () => {
    const rule = 'allowed_parameters = { "*" = [] } denied_parameters = { "type" = ["x"] }';
    expect(passes(rule, { type: 'x' })).toBe(false);
    expect(passes(rule, { type: 'y' })).toBe(true);
  });
});

describe('rules about parameters', () => {
  const rule = `path "p" { ${CAPABILITIES} required_parameters = ["a"] allowed_parameters = { "a" = [] } }`;

  it('hold for create, read and update, not for delete and list, nor when only capabilities are asked for', () => {
    const acl = aclOf(rule);
    for (const capability of ['create', 'read', 'update'] as const) {
      expect(acl.allows('p', capability, { a: 1 })).toBe(true);
      expect(acl.allows('p', capability, { b: 1 })).toBe(false);
      expect(acl.allows('p', capability)).toBe(true);
    }
    expect(acl.allows('p', 'delete', { b: 1 })).toBe(true);
    expect(acl.allows('p', 'list', { b: 1 })).toBe(true);
  });

  it('of several policies are united: requirements add up, values add up, every value swallows single ones', () => {
    const acl = aclOf(
      `path "p" { ${CAPABILITIES} allowed_parameters = { "t" = ["a"], "u" = ["1"] } required_parameters = ["t"] }`,
      `path "p" { ${CAPABILITIES} allowed_parameters = { "t" = ["b"], "u" = [] } required_parameters = ["u"] }`,
    );
    expect(acl.allows('p', 'update', { t: 'a', u: 'x' })).toBe(true);
    expect(acl.allows('p', 'update', { t: 'b', u: 'x' })).toBe(true);
    expect(acl.allows('p', 'update', { t: 'c', u: 'x' })).toBe(false);
    expect(acl.allows('p', 'update', { t: 'a' })).toBe(false);
  });

  it('that deny every value deny them all, whichever other policy denies single ones', () => {
    const every = `path "p" { ${CAPABILITIES} denied_parameters = { "t" = [] } }`;
    const one = `path "p" { ${CAPABILITIES} denied_parameters = { "t" = ["a"] } }`;
    for (const acl of [aclOf(every, one), aclOf(one, every)]) {
      expect(acl.allows('p', 'update', { t: 'b' })).toBe(false);
      expect(acl.allows('p', 'update', { u: 'b' })).toBe(true);
    }
  });

  it('of one policy restrict what another grants on the same path', () => {
    const acl = aclOf(`path "p" { ${CAPABILITIES} }`, 'path "p" { denied_parameters = { "t" = [] } }');
    expect(acl.allows('p', 'update', { t: 1 })).toBe(false);
    expect(acl.allows('p', 'update', { u: 1 })).toBe(true);
  });

  it('vanish with everything else when a policy refuses the path', () => {
    const acl = aclOf(rule, 'path "p" { capabilities = ["deny"] }');
    expect(acl.allows('p', 'update', { a: 1 })).toBe(false);
  });

  it('are not fooled by names that objects inherit', () => {
    const acl = aclOf(
      'path "p" { capabilities = ["update"] required_parameters = ["tostring", "constructor"] }',
    );
    expect(acl.allows('p', 'update', { a: 1 })).toBe(false);
  });
});

describe('a rule that demands wrapped answers', () => {
  /** Whether a request is granted that asks for a wrapped answer for so many seconds; 0 for an open one. */
  const grants = (rules: readonly string[], ttl: number): boolean =>
    aclOf(rules.map((rule) => `path "p" { ${CAPABILITIES} ${rule} }`).join('\n')).allows(
      'p',
      'update',
      {},
      () => ({}),
      ttl,
    );

  it.each([
    ['min_wrapping_ttl = "1s"', [1, 1e9], [0]],
    ['max_wrapping_ttl = 90', [1, 90], [0, 91]],
    ['min_wrapping_ttl = "1m" max_wrapping_ttl = "1h30m"', [60, 5400], [0, 59, 5401]],
    ['min_wrapping_ttl = 60 max_wrapping_ttl = 60', [60], [0, 59, 61]],
    ['min_wrapping_ttl = 0 max_wrapping_ttl = "0s"', [0, 1], []],
  ])('grants those within its times: %s', (rule, granted, refused) => {
    for (const ttl of granted) expect(grants([rule], ttl)).toBe(true);
    for (const ttl of refused) expect(grants([rule], ttl)).toBe(false);
  });

  it('has the smaller of each time when several policies say one', () => {
    const rules = [
      'min_wrapping_ttl = 10 max_wrapping_ttl = 100',
      'min_wrapping_ttl = 20',
      'max_wrapping_ttl = 50',
      '',
    ];
    for (const said of [rules, rules.toReversed()]) {
      for (const ttl of [10, 50]) expect(grants(said, ttl)).toBe(true);
      for (const ttl of [0, 9, 51]) expect(grants(said, ttl)).toBe(false);
    }
  });
});
