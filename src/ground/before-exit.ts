import { pause } from './pause.ts';

/** Time that a process takes at most for what it still does before it exits, in milliseconds. */
const LONGEST_MS = 5000;

const works = new Map<string, () => Promise<unknown>>();

/**
 * Has something done before this process exits, after its answers were printed: nobody waits for it, and a process that
 * is killed leaves it to another one.
 * @param name work of the same name is done once
 */
export function beforeExit(name: string, work: () => Promise<unknown>): void {
  works.set(name, work);
}

/** Does what is left to do before the process exits. A failure of it is nobody's. */
export async function endWork(): Promise<void> {
  if (works.size === 0) return;
  const left = [...works.values()].map((work) => work());
  works.clear();
  await Promise.race([Promise.allSettled(left), pause(LONGEST_MS)]);
}
