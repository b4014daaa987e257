import { glob } from '../ground/glob.ts';
import { foldCase } from './names.ts';

/** Whether a name matches a pattern as a whole, whatever the case; `*` stands for anything, and nothing else for anything but itself. */
export function wildcard(pattern: string): (name: string) => boolean {
  const fits = glob(foldCase(pattern));
  return (name) => fits(foldCase(name));
}

export const isPattern = (text: string): boolean => text.includes('*');

/** Whether any of the patterns fits. */
export function anyOf(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map(wildcard);
  return (name) => tests.some((fits) => fits(name));
}
