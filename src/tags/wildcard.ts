import { glob } from '../ground/glob.ts';
import { foldCase } from './names.ts';

/** Creates a test whether a whole name matches a pattern, case-insensitive; `*` is the only wildcard. */
export function wildcard(pattern: string): (name: string) => boolean {
  const fits = glob(foldCase(pattern));
  return (name) => fits(foldCase(name));
}

export const isPattern = (text: string): boolean => text.includes('*');

/** Creates a test whether any of the patterns matches. */
export function anyOf(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map(wildcard);
  return (name) => tests.some((fits) => fits(name));
}
