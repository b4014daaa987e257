import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BARE_TEMPLATE, weaknessOf } from './titles.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = globSync('test/**/*.ts', { cwd: root }).filter((path) => path !== 'test/tests.test.ts');
const findAll = (pattern: RegExp): string[] =>
  files.flatMap((path) =>
    [...readFileSync(root + path, 'utf8').matchAll(pattern)].map(([found]) => `${path}: ${found}`),
  );

describe('the title of a test', () => {
  it.each([
    ['still fails', ['a command'], 'leans on the test before it'],
    ['does so over TLS', ['a client'], 'leans on the test before it'],
    ['undefined as a public key', ['exporting'], 'shows a case that has no name'],
    ['reads errors', [], 'has fewer than three words'],
    ['adds up', ['the same pattern in several policies'], undefined],
    ['a store keeps what was acknowledged', [], undefined],
  ])('is weighed as it should be: %j after %j', (title, groups, weakness) => {
    expect(weaknessOf(title, groups)).toBe(weakness);
  });

  it('is more than a row of values', () => {
    const bare = ["])('%j: %s', (", "it('%s', async (", "])(\n    '$kind: $text',\n    async ("];
    expect(bare.filter((text) => [...text.matchAll(BARE_TEMPLATE)].length !== 1)).toEqual([]);
    expect(findAll(BARE_TEMPLATE)).toEqual([]);
  });
});

describe('the choices of a test', () => {
  it('are drawn by chance only with a seed that is printed', () => {
    expect(findAll(/\bMath\.random\b|\brandomInt\b/g)).toEqual([]);
  });
});
