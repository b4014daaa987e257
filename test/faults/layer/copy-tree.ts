import fs from 'node:fs';
import { join } from 'node:path';

// As they are before the layer stands before them: a copy is no call of the program.
const { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } = { ...fs };

/**
 * Copies a directory. Empty files are made anew and never opened: one of them may be locked, and a process loses its lock on a file when
 * it closes any descriptor of it.
 */
export function copyTree(from: string, to: string): void {
  mkdirSync(to, { mode: statSync(from).mode });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(source, target);
    else if (!entry.isFile()) throw new Error(`${source} is neither a file nor a directory`);
    else if (statSync(source).size > 0) copyFileSync(source, target);
    else writeFileSync(target, '', { mode: statSync(source).mode });
  }
}
