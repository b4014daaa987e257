import { spawnSync } from 'node:child_process';

/**
 * Reports, in one sentence, missing programs that a release is built with, and where to get them.
 * @throws if one is missing
 */
export function requireTools(sources: Readonly<Record<string, string>>): void {
  const missing = Object.entries(sources).filter(([name]) => spawnSync('which', [name]).status !== 0);
  if (missing.length === 0) return;
  const list = missing.map(([name, source]) => `"${name}" (${source})`).join(', ');
  throw new Error(`A release is made with programs that are missing here: ${list}.`);
}

export const debian = (name: string): string => `Debian's package ${name}`;
