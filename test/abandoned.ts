import { readFileSync } from 'node:fs';

/** Whether the process whose ID a file holds has ended without taking the file away. A file that is not written yet is not abandoned. */
export function isAbandoned(file: string): boolean {
  try {
    const holder = Number(readFileSync(file, 'utf8'));
    if (holder === 0) return false;
    process.kill(holder, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
