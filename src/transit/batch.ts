import { CofferError, invalid } from '../errors.ts';
import type { MaybePromise } from './key-types/key-type.ts';

/** What became of one item: its result, or the reason why there is none. */
export type ItemResult<T> = { readonly value: T } | { readonly error: CofferError };

/** What every item of a batch may carry. */
export interface BatchItem {
  /** The item could not even be read; nothing else of it counts. */
  readonly problem?: CofferError;
}

/** So long may a batch hold the event loop before others get their turn. */
const MAX_RUN_MS = 15;
/** Items between two looks at the clock; a power of two. The slowest thing done at once is one RSA operation. */
const ITEMS_BETWEEN_LOOKS = 4;

/**
 * Works through items in order, each for itself: an item that is refused does not touch the others.
 * Other work of the process gets its turn regularly, however many items there are.
 * @throws what `work` throws that is not a refusal of the item.
 */
export async function eachItem<I extends BatchItem, T>(
  items: readonly I[],
  work: (item: I, index: number) => MaybePromise<T>,
): Promise<ItemResult<T>[]> {
  const results: ItemResult<T>[] = [];
  let turnStarted = Date.now();
  let index = 0;
  for (const item of items) {
    const result = attempt(item, index, work);
    // Waiting for what is there already would cost more than a small encryption.
    results.push(result instanceof Promise ? await result : result);
    index++;
    if (index % ITEMS_BETWEEN_LOOKS === 0 && Date.now() - turnStarted > MAX_RUN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      turnStarted = Date.now();
    }
  }
  return results;
}

function attempt<I extends BatchItem, T>(
  item: I,
  index: number,
  work: (item: I, index: number) => MaybePromise<T>,
): MaybePromise<ItemResult<T>> {
  if (item.problem !== undefined) return { error: item.problem };
  try {
    const value = work(item, index);
    return value instanceof Promise ? value.then((later) => ({ value: later }), refused) : { value };
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): { readonly error: CofferError } {
  if (error instanceof CofferError) return { error };
  throw error;
}

/** The value of the only item. @throws its error. */
export function onlyValue<T>(results: readonly ItemResult<T>[]): T {
  const [result] = results;
  if (result === undefined) throw new RangeError('there is no item');
  return valueOrThrow(result);
}

/** @throws the error of an item that has one. */
export function valueOrThrow<T>(result: ItemResult<T>): T {
  if ('error' in result) throw result.error;
  return result.value;
}

/** @throws `invalid` when there is nothing to do. */
export function requireItems(items: readonly BatchItem[]): void {
  if (items.length > 0) return;
  throw invalid('missing batch input to process', { field: 'batch_input', hint: 'give at least one item' });
}

/** @throws `invalid` unless all items have a context, or none has. */
export function requireUniformContext(items: readonly { readonly context?: string }[]): void {
  const first = hasContext(items[0]);
  if (items.every((item) => hasContext(item) === first)) return;
  throw invalid('context should be set either in all the request blocks or in none', {
    field: 'batch_input',
    hint: 'give every item its context',
  });
}

const hasContext = (item: { readonly context?: string } | undefined): boolean =>
  item?.context !== undefined && item.context !== '';
