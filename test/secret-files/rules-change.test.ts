import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pathOf } from '../../src/secret-files/format.ts';
import { covers, isSecret, looksSecret, type Rule, ruleFor } from '../../src/secret-files/rules.ts';
import { keysBetween, lossesBetween } from '../../src/secret-files/rules-change.ts';
import { rounds } from '../long.ts';

const rule = (files: string | readonly string[], more: Partial<Rule> = {}): Rule => ({
  files: [files].flat(),
  key: 'app',
  mount: undefined,
  format: undefined,
  only: [],
  except: [],
  ...more,
});

const PATTERNS = ['a', 'b', '*', 'a.b', '**.b', 'a*', '?'];
const FILES = ['*.env', 'x/*.env', 'x', 'y.env', '**/y.env'];
const some = (from: readonly string[]) => fc.uniqueArray(fc.constantFrom(...from), { maxLength: 2 });
const rules = fc.array(
  fc.record({
    files: fc.uniqueArray(fc.constantFrom(...FILES), { minLength: 1, maxLength: 2 }),
    key: fc.constantFrom('app', 'other'),
    mount: fc.constant(undefined),
    format: fc.constantFrom(undefined, undefined, 'yaml' as const),
    only: some(PATTERNS),
    except: some(PATTERNS),
  }),
  { maxLength: 3 },
);
/** Rules, and what somebody may have made of them: so that both are often alike. */
const changed = fc.tuple(rules, rules, fc.nat(3), fc.nat(3)).map(([before, more, at, cut]) => ({
  before,
  now: [...before.slice(0, at), ...more.slice(0, cut), ...before.slice(at)],
}));
const pairs = fc.oneof(changed, fc.record({ before: rules, now: rules }));
const secrets = (all: readonly Rule[], file: string, path: readonly string[]): boolean => {
  const found = ruleFor(all, file);
  return found !== undefined && isSecret({ path, type: 'string', text: 'x' }, found);
};

describe('a change of rules', () => {
  it('without a loss leaves nothing readable that was to be encrypted, in any file and under any name', () => {
    const names = [['a'], ['b'], ['a', 'b'], ['ab'], ['c', 'b'], ['c']];
    const files = ['x/y.env', 'y.env', 'z.env', 'x/z.env', 'x'];
    fc.assert(
      fc.property(pairs, ({ before, now }) => {
        if (lossesBetween(before, now).length > 0) return;
        for (const file of files)
          for (const path of names)
            if (secrets(before, file, path)) expect(secrets(now, file, path)).toBe(true);
      }),
      { numRuns: rounds(2000) },
    );
  });

  it('has a loss where a name is excepted, is one of only some, or has rules before it or none', () => {
    const before = [rule('*.env'), rule('*.yaml', { only: ['a', 'b'], except: ['c'] })];
    const [env, yaml] = before as [Rule, Rule];
    const losses = (...now: readonly Rule[]): readonly string[] => lossesBetween(before, now);
    expect(losses({ ...env, except: ['DB'] }, yaml)).toEqual(['in *.env, DB need not be encrypted any more']);
    expect(losses({ ...env, only: ['DB'] }, yaml)).toEqual(['in *.env, only DB must be encrypted']);
    expect(losses(env, { ...yaml, only: ['a'] })).toEqual(['in *.yaml, b need not be encrypted any more']);
    expect(losses(env, { ...yaml, format: 'json' })).toEqual(['in *.yaml, the setting "format" was changed']);
    expect(losses(env)).toEqual(['the rule for *.yaml was removed, or applies to other files']);
    for (const more of [{ except: ['a'] }, { only: ['a'] }, { format: 'yaml' }] as const) {
      expect(losses(rule('x', more), env, yaml)).toEqual(['a rule for x comes before the rule for *.env']);
    }
  });

  it('has no loss where rules, files and names are only added, or nothing is excepted any more', () => {
    const before = [rule('*.env'), rule('*.yaml', { only: ['a'], except: ['c'] })];
    const [env, yaml] = before as [Rule, Rule];
    for (const now of [
      before,
      [...before, rule('x', { except: ['a'] })],
      [rule('x', { key: 'x' }), ...before],
      [env, { ...yaml, only: ['b', 'a'] }],
      [env, { ...yaml, only: [], except: [] }],
      [env, { ...yaml, files: ['*.yml', '*.yaml'] }],
    ])
      expect(lossesBetween(before, now)).toEqual([]);
  });

  it('names the files that have another key, and rules before others', () => {
    const before = [rule('*.env')];
    expect(keysBetween(before, [rule('*.env', { key: 'b', mount: 'm' })])).toEqual([
      'key "m/b" for *.env, no longer "app"',
    ]);
    expect(keysBetween(before, [rule('p/*', { key: 'p' }), rule('*.env')])).toEqual(['key "p" for p/*']);
    expect(keysBetween(before, [rule('*.env'), rule('p/*', { key: 'p' })])).toEqual([]);
  });
});

describe('a readable value', () => {
  it('looks like a secret where it becomes the variable of one, whatever its name in the file', () => {
    const part = fc.constantFrom('a', 'b', 'ab', 'a_b', 'B');
    const path = fc.array(part, { minLength: 1, maxLength: 3 });
    const variableOf = (names: readonly string[]): string => names.join('_').toUpperCase();
    fc.assert(
      fc.property(fc.constantFrom(...PATTERNS), path, path, (pattern, secret, other) => {
        if (variableOf(secret) !== variableOf(other) || !covers(pathOf(pattern), secret)) return;
        const place = { path: other, type: 'string' as const, text: 'x' };
        expect(looksSecret(place, { only: [pattern], except: [] }, variableOf(other))).toBe(true);
      }),
      { numRuns: rounds(3000) },
    );
  });

  it('does not look like one where it is empty or none', () => {
    const looks = (type: 'string' | 'null', text: string): boolean =>
      looksSecret({ path: ['key'], type, text }, { only: ['key'], except: [] }, 'KEY');
    expect([looks('string', 'x'), looks('string', ''), looks('null', '~')]).toEqual([true, false, false]);
  });

  it('does not look like one where its variable is none of a secret, or its name is excepted', () => {
    const looks = (name: string, only: string, except: readonly string[] = []): boolean =>
      looksSecret({ path: [name], type: 'string', text: 'x' }, { only: [only], except }, name.toUpperCase());
    expect(looks('db_password', 'db.password')).toBe(true);
    expect(looks('monkey', '*_key')).toBe(false);
    expect(looks('db_passwords', 'db.password')).toBe(false);
    expect(looks('my_db_password', 'db.password')).toBe(false);
    expect(looks('my_password', 'password')).toBe(true);
    expect(looks('db_password', 'db.password', ['db_password'])).toBe(false);
  });
});
