import { dataKey } from '../../transit/data-key.ts';
import { choice, integer } from '../declaration/params.ts';
import { type EncryptedData, encrypted } from './batch-results.ts';
import {
  associatedData,
  context,
  existingKey,
  keyVersion,
  nonce,
  oaepHash,
  paddingScheme,
  transitOperation,
} from './parameters.ts';

export interface DataKeyData extends EncryptedData {
  readonly plaintext?: string;
}

export const declaration = transitOperation({
  route: 'POST datakey/:type/:name',
  capability: 'update',
  withoutSecret: true,
  computes: true,
  params: {
    type: choice(['plaintext', 'wrapped'], {
      help: 'With plaintext the key comes in the clear, too; wrapped gives only its ciphertext.',
      required: true,
      cli: { positional: true },
      unknown: () => "Invalid path, must be 'plaintext' or 'wrapped'",
    }),
    name: existingKey,
    bits: integer({
      help: 'Length of the data key: 128, 256 or 512 bits.',
      default: 256,
      cli: { metavar: 'BITS', suggest: () => ['128', '256', '512'] },
    }),
    context,
    key_version: keyVersion,
    nonce,
    associated_data: associatedData,
    padding_scheme: paddingScheme(),
    hash_algorithm: oaepHash(),
  },
  cli: {
    lines: (data: DataKeyData) =>
      data.plaintext === undefined ? [data.ciphertext] : [data.plaintext, data.ciphertext],
    examples: [
      [
        'coffer transit datakey plaintext orders -o json',
        'a key to encrypt with, and its ciphertext to keep',
      ],
      ['coffer transit datakey wrapped orders', 'only the ciphertext'],
    ],
  },
  async run({ engine }, values) {
    const made = await dataKey(engine, values.name, {
      withPlaintext: values.type === 'plaintext',
      bits: values.bits,
      keyVersion: values.key_version,
      context: values.context,
      nonce: values.nonce,
      associatedData: values.associated_data,
      paddingScheme: values.padding_scheme,
      hashAlgorithm: values.hash_algorithm,
    });
    const { plaintext } = made;
    const data: DataKeyData = { ...encrypted(made), ...(plaintext === undefined ? {} : { plaintext }) };
    return { data };
  },
});
