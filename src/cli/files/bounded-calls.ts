/**
 * Splits many items into calls of an operation, each small enough for constant memory and for one request to a server.
 */
import type { Session } from '../session.ts';

/** Limits of one call. */
interface CallBounds<T> {
  readonly items: number;
  /** Total size of the items, in any unit; an item that exceeds it has a call of its own. */
  readonly size?: { readonly most: number; of(item: T): number } | undefined;
}

/** Maximum number of items of one call, and their maximum total size in bytes or characters. */
export const MOST_ITEMS = 1000;
export const MOST_SIZE = 1 << 20;

/** Splits items into calls, in order. */
export function* inBoundedCalls<T>(items: Iterable<T>, { items: most, size }: CallBounds<T>): Generator<T[]> {
  const mostSize = size?.most ?? Number.POSITIVE_INFINITY;
  let call: T[] = [];
  let sum = 0;
  for (const item of items) {
    const own = size?.of(item) ?? 0;
    if (call.length === most || (call.length > 0 && sum + own > mostSize)) {
      yield call;
      call = [];
      sum = 0;
    }
    call.push(item);
    sum += own;
  }
  if (call.length > 0) yield call;
}

/** Returns a function that prints the warnings of several calls, each distinct one once. */
export function warnOnce(session: Session): (warnings: readonly string[] | undefined) => void {
  const said = new Set<string>();
  return (warnings = []) => {
    for (const warning of warnings) {
      if (!said.has(warning)) session.warn(warning);
      said.add(warning);
    }
  };
}
