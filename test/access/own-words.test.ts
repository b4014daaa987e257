import { describe, expect, it } from 'vitest';
import { refusalsIn, refusalsOfSource } from './refusals.ts';

const sources = (said: readonly { readonly source: string }[]): readonly string[] =>
  said.map(({ source }) => source);

describe('the text of a refusal', () => {
  it('is found in the source wherever it is written out, and told from what is put together', () => {
    const { undeclared, madeUp, declared } = refusalsIn(
      'x.ts',
      `
      const REFUSAL = 'kept aside';
      const KNOWN = ownWords('known');
      const refuse = (reason: string) => invalid(reason, {});
      function f(x: string) {
        if (x === 'no refusal') throw new CofferError('conflict', \`as it stands\`);
        if (x === '') throw refuse('by another function');
        throw x ? invalid(x === 'a' ? 'one' : 'other', { hint: 'a hint' }) : denied(REFUSAL);
      }
      throw invalid(ownWords('declared'));
      throw invalid(ownWords(text));
      throw invalid(\`with \${x} in it\`);
      throw denied(KNOWN);`,
    );
    expect(sources(undeclared).toSorted()).toEqual([
      "'by another function'",
      "'kept aside'",
      "'one'",
      "'other'",
      '`as it stands`',
    ]);
    expect(sources(madeUp)).toEqual(['text']);
    expect(declared).toBe(3);
  });

  const found = refusalsOfSource();

  it('is declared to be our own words wherever it is written out and may come to the audit trail', () => {
    expect(found.undeclared.map(({ place, source }) => `${place} ${source}`)).toEqual([]);
    expect(found.declared).toBeGreaterThan(300);
  });

  it('is declared to be our own words only where nothing of a request can be in it', () => {
    // What is not written out has names of parameters and types in it, and reasons, all of declarations.
    expect(sources(found.madeUp)).toEqual([
      "wrapped('permission denied')",
      "wrapped('unsupported operation')",
      '`missing $' + '{name}`',
      'text',
      '`missing $' + '{name}`',
      '`": expected $' + '{wanted}`',
      'text',
      '`missing $' + '{param}`',
    ]);
  });
});
