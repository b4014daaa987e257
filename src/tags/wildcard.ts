import { foldCase } from './names.ts';

/** Whether a name matches a pattern as a whole, whatever the case; `*` stands for anything, and nothing else for anything but itself. */
export function wildcard(pattern: string): (name: string) => boolean {
  const parts = foldCase(pattern).split('*');
  if (parts.length === 1) return (name) => foldCase(name) === parts[0];
  const [front = '', ...rest] = parts;
  const back = rest.pop() ?? '';
  return (name) => {
    const text = foldCase(name);
    if (!text.startsWith(front) || !text.endsWith(back) || text.length < front.length + back.length)
      return false;
    const end = text.length - back.length;
    let at = front.length;
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

export const isPattern = (text: string): boolean => text.includes('*');

/** Whether any of the patterns fits. */
export function anyOf(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map(wildcard);
  return (name) => tests.some((fits) => fits(name));
}
