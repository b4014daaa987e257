/**
 * In place of what a server does to the heap of its whole process, where tests run servers in their own. Each would turn off a compiler, make V8
 * collect small garbage more often and add an observer of all collections, for the rest of that process; and each that is sealed would have
 * the garbage of all tests before it collected. That a server does so is tested where it is a process (`test/hygiene/memory.test.ts`).
 */

/** Bounds of the heap, of `src/service/heap.ts`. */
export const boundHeap = (): void => undefined;

/** Collection of keys that are not used any more, of `src/service/heap.ts`. */
export const collectKeys = (): void => undefined;
