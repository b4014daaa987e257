import { rewrap } from '../../transit/rewrap.ts';
import { computing } from '../declaration/operation.ts';
import type { ValuesOf } from '../declaration/params.ts';
import { decryptItem } from './decrypt.ts';
import {
  answered,
  batchOf,
  ciphertextParameters,
  contextsApart,
  encrypted,
  existingKey,
  itemKeyVersion,
  keyVersion,
  oaepHash,
  paddingScheme,
  reference,
  transitOperation,
} from './parameters.ts';

export const rewrapParameters = {
  ...ciphertextParameters,
  decrypt_padding_scheme: paddingScheme(' of the old ciphertext'),
  encrypt_padding_scheme: paddingScheme(' of the new ciphertext'),
  decrypt_hash_algorithm: oaepHash(' of the old ciphertext'),
  encrypt_hash_algorithm: oaepHash(' of the new ciphertext'),
  hash_algorithm: oaepHash(
    ' of both ciphertexts',
    '; decrypt_hash_algorithm and encrypt_hash_algorithm take precedence',
  ),
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
  run: ({ engine }, values) =>
    answered(
      values,
      rewrapItem(values.key_version),
      (items) => rewrap(engine, values.name, items),
      encrypted,
    ),
});

type RewrapValues = Partial<ValuesOf<typeof itemFields>>;

/**
 * Returns what converts an item of a request to the form that the engine expects.
 * @param keyVersion default for an item without one
 */
export const rewrapItem = (keyVersion: number) => (values: RewrapValues) => ({
  ...decryptItem(values),
  keyVersion: values.key_version ?? keyVersion,
  decryptPaddingScheme: values.decrypt_padding_scheme,
  encryptPaddingScheme: values.encrypt_padding_scheme,
  decryptHashAlgorithm: values.decrypt_hash_algorithm || values.hash_algorithm,
  encryptHashAlgorithm: values.encrypt_hash_algorithm || values.hash_algorithm,
});
