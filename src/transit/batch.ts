import { CofferError, invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import { Pace } from '../ground/pace.ts';
import type { Engine } from './engine.ts';
import type { MaybePromise } from './key-types/key-type.ts';

/** What became of one item: its result, or the reason why there is none. */
export type ItemResult<T> = { readonly value: T } | { readonly error: CofferError };

/** What every item of a batch may carry. */
export interface BatchItem {
  /** The item could not even be read; nothing else of it counts. */
  readonly problem?: CofferError;
}

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
  const pace = new Pace();
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (item === undefined) continue;
    try {
      if (item.problem !== undefined) throw item.problem;
      const value = work(item, index);
      // Waiting for what is there already would cost more than a small encryption.
      results.push({ value: value instanceof Promise ? await value : value });
    } catch (error) {
      // What the disk or the database refuses is no refusal of the item.
      if (!(error instanceof CofferError) || error.where !== undefined) throw error;
      results.push({ error });
    }
    if (pace.isDue()) await pace.pause();
  }
  return results;
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
  throw invalid(ownWords('missing batch input to process'), {
    field: 'batch_input',
    hint: 'give at least one item',
  });
}

/**
 * An item whose context does not fit its key fails alone, but not in the family.
 * @throws `invalid` where its rules hold, unless all items have a context, or none has.
 */
export function requireUniformContext(engine: Engine, items: readonly Contextual[]): void {
  if (!engine.keepsFamilyRules) return;
  const first = hasContext(items[0]);
  if (items.every((item) => hasContext(item) === first)) return;
  throw invalid(ownWords('context should be set either in all the request blocks or in none'), {
    field: 'batch_input',
    hint: 'give every item its context',
  });
}

interface Contextual {
  readonly context?: string | undefined;
}

/** An empty context is none. */
export const hasContext = (item: Contextual | undefined): boolean =>
  item?.context !== undefined && item.context !== '';
