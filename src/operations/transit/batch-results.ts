import type { CofferError } from '../../ground/errors.ts';
import type { BatchItem, ItemResult } from '../../transit/batch.ts';
import type { Encrypted } from '../../transit/key-cipher.ts';
import type { Outcome } from '../declaration/operation.ts';
import type { ParsedItem } from '../declaration/params.ts';

interface Referenced {
  readonly reference?: string;
}

/** Entry of `batch_results`. */
type ResultLine<T> = (T | { readonly error: string }) & { readonly reference: string };

/** Result of an operation that takes one value or many: `S` for one, lines `L` for many. */
export type SingleOrBatch<S, L> =
  | (S & { readonly batch_results?: never })
  | ({ readonly batch_results: readonly ResultLine<L>[] } & { readonly [K in keyof S]?: never });

/**
 * Returns the lines of `batch_results`, in the order of the items, each with the item's `reference`.
 * @param failed members of a failed item besides its error
 */
export function resultLines<T, L extends object>(
  items: readonly ParsedItem<Referenced>[],
  results: readonly ItemResult<T>[],
  line: (value: T) => L,
  failed: object = {},
): ResultLine<L>[] {
  return results.map((result, index) => {
    // Each line is a new object, so it can be extended: copying it would cost as much as a small HMAC.
    const answer: object =
      'error' in result ? { ...failed, error: result.error.message } : line(result.value);
    (answer as { reference: string }).reference = items[index]?.values.reference ?? '';
    return answer as ResultLine<L>;
  });
}

/** Converts the items for the engine. */
export const engineItems = <V, I extends object>(
  items: readonly ParsedItem<V>[],
  item: (values: Partial<V>) => I,
): (I & BatchItem)[] =>
  items.map(({ values, problem }) => (problem === undefined ? item(values) : { ...item(values), problem }));

/** Returns the status for a batch with failed items: Vault clients check it, and may request another. */
export function failedItems(
  results: readonly ItemResult<unknown>[],
  requestedCode: number | undefined,
): Pick<Outcome<unknown>, 'failedItems' | 'warnings'> {
  const errors = results.flatMap((result): CofferError[] => ('error' in result ? [result.error] : []));
  if (errors.length === 0) return {};
  const usual = { failedItems: { statusCode: 400 } };
  if (requestedCode === undefined || errors.length === results.length) return usual;
  if (requestedCode < 200 || requestedCode > 599) {
    const warning = `invalid HTTP response code override from partial_failure_response_code, reverting to 400`;
    return { ...usual, warnings: [warning] };
  }
  return { failedItems: { statusCode: requestedCode } };
}

/** Result of encrypt, rewrap and datakey. */
export interface EncryptedData {
  readonly ciphertext: string;
  readonly key_version: number;
}

export const encrypted = ({ ciphertext, keyVersion }: Encrypted): EncryptedData => ({
  ciphertext,
  key_version: keyVersion,
});
