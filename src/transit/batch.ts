import { CofferError, invalid, ownWords } from '../ground/errors.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import { Pace } from '../ground/pace.ts';
import type { Engine } from './engine.ts';

/** Result of one item, or the reason why it failed. */
export type ItemResult<T> = { readonly value: T } | { readonly error: CofferError };

/** Members that every batch item may have. */
export interface BatchItem {
  /** Error if the item could not be parsed; its other members are ignored then. */
  readonly problem?: CofferError;
}

/** Item to encrypt or decrypt, as given by the caller; texts are base64. */
export interface CipherItem extends BatchItem {
  readonly context?: string | undefined;
  readonly associatedData?: string | undefined;
  /** Only for convergent keys of version 1; ignored when others decrypt, because old clients always send one. */
  readonly nonce?: string | undefined;
  /** RSA only. */
  readonly paddingScheme?: string | undefined;
  /** RSA only. */
  readonly hashAlgorithm?: string | undefined;
}

/**
 * Processes items in order and independently: an item that fails does not affect the others. Yields to other work of
 * the process regularly.
 * @throws anything that `work` throws that is not an error of the item
 */
export async function eachItem<I extends BatchItem, T>(
  items: readonly I[],
  work: (item: I, index: number) => MaybePromise<T>,
): Promise<ItemResult<T>[]> {
  const results: ItemResult<T>[] = [];
  const pace = items.length > 1 ? new Pace() : undefined;
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (item === undefined) continue;
    try {
      if (item.problem !== undefined) throw item.problem;
      const value = work(item, index);
      // Awaiting a value that is already available would cost more than a small encryption.
      results.push({ value: value instanceof Promise ? await value : value });
    } catch (error) {
      // Errors of the disk or the database are not errors of the item.
      if (!(error instanceof CofferError) || error.where !== undefined) throw error;
      results.push({ error });
    }
    if (pace?.isDue()) await pace.pause();
  }
  return results;
}

/**
 * Returns the value of the only item.
 * @throws its error
 */
export function onlyValue<T>(results: readonly ItemResult<T>[]): T {
  const [result] = results;
  if (result === undefined) throw new RangeError('no items');
  return valueOrThrow(result);
}

/**
 * Returns the value of an item.
 * @throws its error
 */
export function valueOrThrow<T>(result: ItemResult<T>): T {
  if ('error' in result) throw result.error;
  return result.value;
}

/**
 * Requires at least one item.
 * @throws `invalid` if there are none
 */
export function requireItems(items: readonly BatchItem[]): void {
  if (items.length > 0) return;
  throw invalid(ownWords('missing batch input to process'), {
    field: 'batch_input',
    hint: 'use at least one item',
  });
}

/**
 * Requires a context in all items or in none, where Vault's rules apply; otherwise an item whose context does not fit
 * its key fails alone.
 * @throws `invalid` if only some items have a context
 */
export function requireUniformContext(engine: Engine, items: readonly Contextual[]): void {
  if (!engine.keepsFamilyRules) return;
  const first = hasContext(items[0]);
  if (items.every((item) => hasContext(item) === first)) return;
  throw invalid(ownWords('context should be set either in all the request blocks or in none'), {
    field: 'batch_input',
    hint: 'set a context for every item',
  });
}

interface Contextual {
  readonly context?: string | undefined;
}

/** Whether an item has a context; an empty one does not count. */
export const hasContext = (item: Contextual | undefined): boolean =>
  item?.context !== undefined && item.context !== '';
