import { pause } from './pause.ts';

/** Time that a process takes at most for what it still does before it exits, in milliseconds. */
const LONGEST_MS = 5000;

/** @param isAll whether all is to be done, or only what is urgent */
type WorkAtExit = (isAll: boolean) => Promise<unknown>;

const works = new Map<string, { readonly work: WorkAtExit; readonly isAll: boolean }>();

/**
 * Has something done before this process exits, after its answers were printed: nobody waits for it, and a process that
 * is killed leaves it to another one.
 * @param name work of the same name is done once; all of it if anybody has asked for that
 */
export function beforeExit(name: string, isAll: boolean, work: WorkAtExit): void {
  works.set(name, { work, isAll: isAll || works.get(name)?.isAll === true });
}

/** Does what is left to do before the process exits. A failure of it is nobody's. */
export async function endWork(): Promise<void> {
  if (works.size === 0) return;
  const left = [...works.values()].map(({ work, isAll }) => work(isAll));
  works.clear();
  await Promise.race([Promise.allSettled(left), pause(LONGEST_MS)]);
}
