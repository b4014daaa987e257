import { withValue } from '../../ground/maybe-promise.ts';
import { onlyValue } from '../../transit/batch.ts';
import { encrypt } from '../../transit/encrypt.ts';
import type { Engine } from '../../transit/engine.ts';
import { DEFAULT_KEY_TYPE, encryptionTypeNames, parameterSetsOf } from '../../transit/key-types/index.ts';
import { requireKeyType } from '../../transit/lifecycle.ts';
import { findKey } from '../../transit/named-key.ts';
import { isMissing } from '../declaration/deleting.ts';
import { computing, type Outcome } from '../declaration/operation.ts';
import { base64, flag, text, type ValuesOf } from '../declaration/params.ts';
import {
  batchOf,
  contextsApart,
  type EncryptedData,
  encrypted,
  encryptionParameters,
  engineItems,
  failedItems,
  itemKeyVersion,
  keyInPath,
  partialFailureCode,
  reference,
  resultLines,
  type SingleOrBatch,
  transitOperation,
} from './parameters.ts';

const parameters = {
  plaintext: base64({ help: 'Plaintext, base64 (may be empty).' }),
  ...encryptionParameters,
};

const itemFields = { ...parameters, key_version: itemKeyVersion, reference };

/** Refuses what is not a key type, which the API ignores if the key exists. */
function requireKnownType(name: string): void {
  if (parameterSetsOf(name) === undefined) requireKeyType(name);
}

export const declaration = transitOperation({
  route: 'POST encrypt/:name',
  ...computing,
  params: {
    name: keyInPath('Key to encrypt with; created if it does not exist.'),
    ...parameters,
    type: text({
      help: 'Type of a newly created key; ignored if the key exists.',
      default: DEFAULT_KEY_TYPE,
      cli: { suggest: encryptionTypeNames, check: requireKnownType },
    }),
    convergent_encryption: flag({
      help: 'Make a newly created key convergent: equal plaintexts with equal contexts give equal ciphertexts.',
      default: false,
    }),
    no_create: flag({ help: 'Fail if the key does not exist, instead of creating it.', default: false }),
    batch_input: batchOf('plaintexts', itemFields),
    partial_failure_response_code: partialFailureCode,
  },
  cli: {
    batch: contextsApart,
    input: { param: 'plaintext', as: 'bytes', help: 'Plaintext (may be empty).', what: 'the plaintext' },
    result: { member: 'ciphertext', as: 'text' },
    byTheWay: async ({ name }, runner) =>
      (await isMissing(runner, 'transit keys read', { name })) ? [{ kind: 'key', name: String(name) }] : [],
    examples: {
      "printf '4242' | coffer transit encrypt orders": 'Encrypt standard input',
      'coffer transit encrypt orders --in card.txt --out card.enc': 'Read from a file and write to a file',
      'coffer transit encrypt orders --batch items.ndjson': 'Encrypt many values, one JSON object per line',
    },
  },
  exists: ({ engine }, values) => withValue(findKey(engine, values.name), (key) => key !== undefined),
  async run(
    { engine, caller, mount },
    values,
  ): Promise<Outcome<SingleOrBatch<EncryptedData, EncryptedData>>> {
    const path = `${mount}/encrypt/${values.name}`;
    let created: true | undefined;
    const options = {
      onCreated: () => {
        created = true;
      },
      type: values.type,
      convergentEncryption: values.convergent_encryption,
      mayCreate: !values.no_create && caller.may(path, 'create'),
      mayUpdate: caller.may(path, 'update'),
    };
    if (values.batch_input === undefined) {
      const item = encryptItem(values, values.key_version);
      const data = encrypted(onlyValue(await encrypt(engine, values.name, [item], options)));
      return { data, created, ...messageWarning(engine, values.name) };
    }
    const items = engineItems(values.batch_input, (item) => encryptItem(item, values.key_version));
    const results = await encrypt(engine, values.name, items, options);
    return {
      data: { batch_results: resultLines(values.batch_input, results, encrypted) },
      created,
      ...messageWarning(engine, values.name),
      ...failedItems(results, values.partial_failure_response_code),
    };
  },
});

function messageWarning(engine: Engine, name: string): { readonly warnings?: readonly string[] } {
  const warning = engine.messages?.warning(engine, name);
  return warning === undefined ? {} : { warnings: [warning] };
}

/**
 * Converts an item.
 * @param keyVersion default for an item without one
 */
const encryptItem = (values: Partial<ValuesOf<typeof itemFields>>, keyVersion: number) => ({
  plaintext: values.plaintext,
  context: values.context,
  keyVersion: values.key_version ?? keyVersion,
  nonce: values.nonce,
  associatedData: values.associated_data,
  paddingScheme: values.padding_scheme,
  hashAlgorithm: values.hash_algorithm,
});
