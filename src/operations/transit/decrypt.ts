import { encodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import { onlyValue } from '../../transit/batch.ts';
import { computing, type Outcome } from '../declaration/operation.ts';
import type { ValuesOf } from '../declaration/params.ts';
import {
  batchOf,
  ciphertextParameters,
  contextsApart,
  engineItems,
  existingKey,
  failedItems,
  oaepHash,
  paddingScheme,
  partialFailureCode,
  reference,
  resultLines,
  type SingleOrBatch,
  transitOperation,
} from './parameters.ts';

const parameters = { ...ciphertextParameters, padding_scheme: paddingScheme(), hash_algorithm: oaepHash() };
const itemFields = { ...parameters, reference };

export const declaration = transitOperation({
  route: 'POST decrypt/:name',
  ...computing,
  params: {
    name: existingKey,
    ...parameters,
    batch_input: batchOf('ciphertexts', itemFields),
    partial_failure_response_code: partialFailureCode,
  },
  cli: {
    batch: contextsApart,
    input: { param: 'ciphertext', as: 'text', what: 'the ciphertext' },
    result: { member: 'plaintext', as: 'base64' },
    copies: true,
    examples: {
      'coffer transit decrypt orders service:v1:…': 'Decrypt a ciphertext given as an argument',
      'coffer transit decrypt orders --in card.enc --out card.txt': 'Read from a file and write to a file',
    },
  },
  async run({ engine }, values): Promise<Outcome<SingleOrBatch<PlaintextData, PlaintextData>>> {
    // Loaded on use: a command that calls an agent or a server only needs the declaration, and starts faster.
    const { decrypt } = await import('../../transit/decrypt.ts');
    if (values.batch_input === undefined) {
      return { data: plaintext(onlyValue(await decrypt(engine, values.name, [paddedItem(values)]))) };
    }
    const results = await decrypt(engine, values.name, engineItems(values.batch_input, paddedItem));
    return {
      data: { batch_results: resultLines(values.batch_input, results, plaintext, { plaintext: '' }) },
      ...failedItems(results, values.partial_failure_response_code),
    };
  },
});

type PlaintextData = ReturnType<typeof plaintext>;

/** Converts an item of decrypt or rewrap for the engine. */
export const decryptItem = (values: Partial<ValuesOf<typeof ciphertextParameters>>) => ({
  ciphertext: values.ciphertext,
  context: values.context,
  nonce: values.nonce,
  associatedData: values.associated_data,
});

const paddedItem = (values: Partial<ValuesOf<typeof parameters>>) => ({
  ...decryptItem(values),
  paddingScheme: values.padding_scheme,
  hashAlgorithm: values.hash_algorithm,
});

function plaintext(bytes: Buffer) {
  const printed = encodeBase64(bytes);
  wipe(bytes);
  return { plaintext: printed };
}
