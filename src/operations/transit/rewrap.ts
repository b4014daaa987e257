import { onlyValue } from '../../transit/batch.ts';
import { rewrap } from '../../transit/rewrap.ts';
import { computing, type Outcome } from '../declaration/operation.ts';
import type { ValuesOf } from '../declaration/params.ts';
import { decryptItem } from './decrypt.ts';
import {
  batchOf,
  ciphertextParameters,
  contextsApart,
  type EncryptedData,
  encrypted,
  engineItems,
  existingKey,
  itemKeyVersion,
  keyVersion,
  oaepHash,
  paddingScheme,
  reference,
  resultLines,
  type SingleOrBatch,
  transitOperation,
} from './parameters.ts';

export const rewrapParameters = {
  ...ciphertextParameters,
  decrypt_padding_scheme: paddingScheme(' of the old ciphertext'),
  encrypt_padding_scheme: paddingScheme(' of the new ciphertext'),
  decrypt_hash_algorithm: oaepHash(' of the old ciphertext'),
  encrypt_hash_algorithm: oaepHash(' of the new ciphertext'),
  hash_algorithm: oaepHash(' of both ciphertexts (the options for one of them take precedence)'),
};
const itemFields = { ...rewrapParameters, key_version: itemKeyVersion, reference };

export const declaration = transitOperation({
  route: 'POST rewrap/:name',
  ...computing,
  params: {
    name: existingKey,
    ...rewrapParameters,
    key_version: keyVersion,
    batch_input: batchOf('ciphertexts', itemFields),
  },
  cli: {
    batch: contextsApart,
    input: { param: 'ciphertext', as: 'text', what: 'the ciphertext' },
    result: { member: 'ciphertext', as: 'text' },
    examples: {
      'coffer transit rewrap orders service:v1:…': 'Re-encrypt with the latest key version',
      'coffer transit rewrap orders --batch old.ndjson --out new.ndjson':
        'Re-encrypt many ciphertexts, one JSON object per line',
    },
  },
  async run({ engine }, values): Promise<Outcome<SingleOrBatch<EncryptedData, EncryptedData>>> {
    if (values.batch_input === undefined) {
      const item = rewrapItem(values, values.key_version);
      return { data: encrypted(onlyValue(await rewrap(engine, values.name, [item]))) };
    }
    const items = engineItems(values.batch_input, (item) => rewrapItem(item, values.key_version));
    const results = await rewrap(engine, values.name, items);
    return { data: { batch_results: resultLines(values.batch_input, results, encrypted) } };
  },
});

type RewrapValues = Partial<ValuesOf<typeof itemFields>>;

/**
 * Converts an item of a request to the form that the engine expects.
 * @param keyVersion default for an item without one
 */
export const rewrapItem = (values: RewrapValues, keyVersion: number) => ({
  ...decryptItem(values),
  keyVersion: values.key_version ?? keyVersion,
  decryptPaddingScheme: values.decrypt_padding_scheme,
  encryptPaddingScheme: values.encrypt_padding_scheme,
  decryptHashAlgorithm: values.decrypt_hash_algorithm || values.hash_algorithm,
  encryptHashAlgorithm: values.encrypt_hash_algorithm || values.hash_algorithm,
});
