/** Declares the operations below a transit mount, and their common parameters and results. */

import { type CofferError, invalid } from '../../ground/errors.ts';
import { withValue } from '../../ground/maybe-promise.ts';
import { type BatchItem, type ItemResult, onlyValue } from '../../transit/batch.ts';
import { hashNames } from '../../transit/hashing.ts';
import type { Encrypted } from '../../transit/key-cipher.ts';
import { KEY_NAME } from '../../transit/key-document.ts';
import { operationsOf } from '../declaration/mount-operations.ts';
import type { BatchShape, Outcome } from '../declaration/operation.ts';
import {
  base64,
  batch,
  type CliParam,
  type Declared,
  declare,
  flag,
  hidden,
  integer,
  type Params,
  type ParsedItem,
  type Spec,
  text,
} from '../declaration/params.ts';
import { parseText } from '../declaration/weak-values.ts';

/** Declares an operation of transit mounts, whose handler gets the engine of the mount. */
export const transitOperation = operationsOf('transit', (call) =>
  withValue(call.core.engine(call.mount), (engine) => ({ ...call, engine })),
);

/** Declares an operation that does not depend on the mount: it is also available below `sys/tools`. */
export const transitTool = operationsOf('transit', async (call) => {
  if (call.mount !== '') await call.core.engine(call.mount);
  return call;
});

/** Ciphertext or signature, which may have been exchanged with the name. */
const VALUE_OF_KEY = /^[a-z]+:v\d+:/;

/** Name of a named key: letters, digits, `_`; inside also `-` and `.`. */
export function keyName<const S extends Spec<string>>(spec: S): Declared<string, S> {
  return declare<string, S>(spec, { type: 'string', pattern: KEY_NAME.source }, (value, field) => {
    const name = parseText(value, field);
    if (!KEY_NAME.test(name)) {
      throw invalid(`key name ${JSON.stringify(name)} is not allowed`, {
        field,
        hint: VALUE_OF_KEY.test(name)
          ? 'give the name of the key before the value'
          : `use letters, digits, "_", "-" and "."; the name must begin and end with a letter, a digit or "_"${name.includes('/') ? '; the mount is not part of the name' : ''}`,
      });
    }
    return name;
  });
}

/** Parameter set, for Vault's type names that stand for several types. */
export const parameterSet = text({
  help: 'Parameter set, only for the types ml-dsa (44, 65 or 87) and slh-dsa (e.g. slh-dsa-sha2-128s), which are named as in Vault.',
  default: '',
});

/** Named key in the path; by default one that exists. */
export const keyInPath = (help: string, cli: CliParam = { positional: true, refersTo: 'key' }) =>
  keyName({ help, required: true, cli });

export const existingKey = keyInPath('Name of the key.');

/** Key names, for commands that take several. */
export const eachKey = keyInPath('Name of the key.', { positional: 'each', refersTo: 'key' });

export const derived = flag({
  help: 'Use a separate key, derived from this one, for each context (a value that must then be given whenever the key is used).',
  default: false,
});

/** What lets the material of a new key leave the store. */
export const leaving = {
  exportable: flag({
    help: 'Allow exporting the key material; cannot be disallowed later.',
    default: false,
  }),
  allow_plaintext_backup: flag({
    help: 'Allow plaintext backups of the key; cannot be disallowed later.',
    default: false,
  }),
};

/** Hash functions of RSA-OAEP for keys on their way between servers. */
export const wrappingHashNames = () => ['SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512'];

/** Parameter of bytes that are usually text, which commands also accept as such. */
export const textOrBase64 = (help: string) => base64({ help, cli: { textTwin: true } });

export const context = textOrBase64(
  'Context that the key for this value is derived from, base64; required for derived keys.',
);

/** A mount with the dialect `vault` refuses a batch in which only some items have a context. */
export const contextsApart: BatchShape = { apart: ({ context }) => Boolean(context) };

export const nonceOf = (what: string) =>
  base64({
    help: `12-byte nonce${what}, base64. Required for convergent keys that Vault 0.6.1 created; omit it for all others.`,
  });

export const nonce = nonceOf('');

export const associatedData = textOrBase64(
  'Additional authenticated data, base64; must be the same for encryption and decryption.',
);

/**
 * Padding scheme.
 * @param what rest of a phrase that begins with "Padding", for operations that pad twice
 */
export const paddingScheme = (what = '') =>
  text({ help: `Padding${what}, for RSA keys; only oaep.`, cli: { suggest: () => ['oaep'] as const } });

/**
 * Hash of the padding.
 * @param what rest of a phrase that begins with "Hash function of the OAEP padding", for operations that pad twice
 * @param exception end of that sentence
 */
export const oaepHash = (what = '', exception = '') =>
  text({
    help: `Hash function of the OAEP padding${what}, for RSA keys${exception}. Default: sha2-256.`,
    cli: { suggest: hashNames },
  });

/** @param what whose version, and what for: rest of a phrase that begins with "Version of" */
export const versionOf = (what: string) =>
  integer({ help: `Version of ${what} (0: latest).`, default: 0, cli: { isKeyVersion: true } });

export const keyVersion = versionOf('the key to use');

/** Parameters for encrypting besides the plaintext: the same for encrypt, single and in items, and for data keys. */
export const encryptionParameters = {
  context,
  key_version: keyVersion,
  nonce,
  associated_data: associatedData,
  padding_scheme: paddingScheme(),
  hash_algorithm: oaepHash(),
};

/** Ciphertext with the parameters for reading it: the same for decrypt and rewrap, single and in items. */
export const ciphertextParameters = {
  ciphertext: text({ long: true, help: 'Ciphertext of any key version.' }),
  context,
  nonce,
  associated_data: associatedData,
};

/** In items there is no default: absent means that the call's own counts. */
export const itemKeyVersion = integer({
  help: 'Key version (0: latest). Default: the key version of the request.',
});

export const reference = text({ help: 'Caller-defined text, returned with the result.' });

export const partialFailureCode = integer(hidden('HTTP status if some items of a batch fail. Default: 400.'));

export const batchOf = <const F extends Params>(what: string, fields: F) =>
  batch(fields, {
    help: `Batch of ${what}. Parameters that items can have are then only read from the items.`,
  });

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
  items: readonly ParsedItem<{ readonly reference?: string }>[],
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

/**
 * Answers a request for one item, or for each item of its batch.
 * @param item converts an item for the engine
 * @param perform runs the items
 */
export async function answered<V, I extends object, T, L extends object>(
  values: Partial<NoInfer<V>> & {
    readonly batch_input?: readonly ParsedItem<NoInfer<V> & { readonly reference?: string }>[] | undefined;
  },
  item: (values: Partial<V>) => I,
  perform: (items: readonly (I & BatchItem)[]) => Promise<ItemResult<T>[]>,
  answer: (value: T) => L,
): Promise<Outcome<SingleOrBatch<L, L>>> {
  const { batch_input: items } = values;
  if (items === undefined) return { data: answer(onlyValue(await perform([item(values)]))) };
  return { data: { batch_results: resultLines(items, await perform(engineItems(items, item)), answer) } };
}

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
