import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/operations/catalogue.ts';
import { loadRoutes, patternOf } from '../../src/operations/routes.ts';
import { expressionsIn, expressionsOfSource } from './found.ts';
import { growthOf } from './growth.ts';

const growth = ({ source, flags }: { readonly source: string; readonly flags: string }) =>
  growthOf(source, flags);

const linear: readonly RegExp[] = [
  /^\/+/,
  /a+/g,
  /"[^"]*"/,
  /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y,
  /^(?:a|ab)*c/,
  /\d{1,5}x/,
  /^\d+(?:\.\d+)+$/,
  /^[ \t]*[^#\s%-]/m,
  /(?<! ): [\s\S]*/,
];
const polynomial: readonly RegExp[] = [
  // As they stood where slashes are taken off a path.
  /\/+$/,
  /^\/+|\/+$/g,
  /\/*$/,
  /=+$/,
  /\s*\n\s*/g,
  /^\s*(.*)\s*$/,
  /^\s*x/m,
  /^(\d+)(\d+)x/,
  /[ab](?=[ab]*c)/,
  /(?:a+b)?/g,
  /x*y/i,
];
const exponential: readonly RegExp[] = [
  /(a+)+$/,
  /(?:a|a)*b/,
  /^(?:a|aa)*b/,
  /(?:a*)*b/,
  /^(?:\w+\s?)*$/,
  /([ab]+|b)*c/,
];

describe('a regular expression', () => {
  it.each(linear)('costs in proportion to the text: %s', (expression) => {
    expect(growth(expression)).toBe('linear');
  });
  it.each(polynomial)('costs a power of the length of the text: %s', (expression) => {
    expect(growth(expression)).toBe('polynomial');
  });
  it.each(exponential)('costs twice as much with a character more: %s', (expression) => {
    expect(growth(expression)).toBe('exponential');
  });

  it('is found wherever it stands in a source', () => {
    const text = `
      const a = b / c / d; // not /this+/
      const text = 'nor /this+/' + \`nor /that+/ \${e.replace(/\\/+$/, '')}\`;
      class X<T> { readonly y: T = z as unknown as T; f = (q: string) => /[/+]+"/giu.test(q); }
      new RegExp('x+');`;
    const { written, made } = expressionsIn('x.ts', text);
    expect(written).toEqual([
      { place: 'x.ts:3', source: '\\/+$', flags: '' },
      { place: 'x.ts:4', source: '[/+]+"', flags: 'giu' },
    ]);
    expect(made).toEqual(['x.ts']);
  });
});

describe('the regular expressions of the source', () => {
  const { written, made } = expressionsOfSource();

  it('cost in proportion to the text, whatever the text is', () => {
    const costly = written.flatMap((one) => {
      const grows = growth(one);
      return grows === 'linear' ? [] : [`${one.place} is ${grows}: /${one.source}/${one.flags}`];
    });
    expect(costly).toEqual([]);
    expect(written.length).toBeGreaterThan(250);
  });

  it('are made at run time for routes, which cost in proportion to the path, and for texts of one length alone', async () => {
    expect(made).toEqual([
      'src/cli/memory/memory-directory.ts',
      'src/operations/routes.ts',
      'src/signatures/ssh-signature.ts',
    ]);
    const patterns = (await loadRoutes(catalogue)).map(({ operation, route }) =>
      patternOf(route, operation.params),
    );
    expect(patterns.filter((pattern) => growth(pattern) !== 'linear')).toEqual([]);
  });
});
