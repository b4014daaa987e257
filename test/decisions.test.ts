import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { citations, DECISION_INDEX, decisionNotes, withDecisionIndex } from '../scripts/decision-index.ts';

const notes = decisionNotes();
const citing = citations();

describe('the notes of decisions', () => {
  it('each begin with their number and a title', () => {
    expect(notes.filter(({ title }) => title === undefined)).toEqual([]);
  });

  it('have titles of 60 characters at most', () => {
    expect(notes.map(({ title = '' }) => title).filter((title) => title.length > 60)).toEqual([]);
  });

  it('each have evidence: a choice that needs none is a comment at the code', () => {
    expect(notes.filter(({ hasEvidence }) => !hasEvidence).map(({ file }) => file)).toEqual([]);
  });

  it('have a number each', () => {
    const numbers = notes.map(({ number }) => number);
    expect(numbers).toEqual([...new Set(numbers)]);
  });

  it('are each cited in the code where they hold', () => {
    const cited = new Set(
      citing.filter(({ path }) => !path.startsWith('test/')).flatMap((file) => file.cited),
    );
    expect(notes.filter(({ number }) => !cited.has(number)).map(({ file }) => file)).toEqual([]);
  });

  it('are there when code cites them', () => {
    const numbers = new Set(notes.map(({ number }) => number));
    const wrong = citing.flatMap(({ path, cited }) =>
      cited.filter((number) => !numbers.has(number)).map((number) => `${path} cites ${number}`),
    );
    expect(wrong).toEqual([]);
  });

  it('are cited in one form, "@see" and the path with the number', () => {
    const wrong = citing.filter(({ cited, mentions }) => cited.length !== mentions);
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('have an index that is up to date', () => {
    const page = readFileSync(fileURLToPath(new URL(`../${DECISION_INDEX}`, import.meta.url)), 'utf8');
    expect(page).toBe(withDecisionIndex(page));
  });
});
