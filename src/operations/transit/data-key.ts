import { type DataKey, type DataKeyRequest, dataKey, dataKeys } from '../../transit/data-key.ts';
import { computing } from '../declaration/operation.ts';
import { choice, integer, type ValuesOf } from '../declaration/params.ts';
import {
  type EncryptedData,
  encrypted,
  encryptionParameters,
  existingKey,
  transitOperation,
} from './parameters.ts';

export interface DataKeyData extends EncryptedData {
  readonly plaintext?: string;
}

export interface DataKeysData {
  readonly key_pairs: readonly { readonly plaintext?: string; readonly ciphertext: string }[];
  readonly key_version: number;
}

const params = {
  type: choice(['plaintext', 'wrapped'], {
    help: '"plaintext": return the data key and its ciphertext; "wrapped": only the ciphertext.',
    required: true,
    cli: { positional: true },
    unknown: () => "Invalid path, must be 'plaintext' or 'wrapped'",
  }),
  name: existingKey,
  bits: integer({
    help: 'Length of the data key in bits: 128, 256 or 512.',
    default: 256,
    cli: { metavar: 'BITS', suggest: () => ['128', '256', '512'] },
  }),
  ...encryptionParameters,
};

export const declaration = transitOperation({
  route: 'POST datakey/:type/:name',
  ...computing,
  params,
  cli: {
    lines: (data: DataKeyData) =>
      data.plaintext === undefined ? [data.ciphertext] : [data.plaintext, data.ciphertext],
    examples: {
      'coffer transit datakey plaintext orders -o json':
        'Get a data key in plaintext, and its ciphertext to store',
      'coffer transit datakey wrapped orders': 'Get only the encrypted data key',
    },
  },
  async run({ engine }, values) {
    const made = await dataKey(engine, values.name, requestOf(values));
    const data: DataKeyData = { ...encrypted(made), ...openKey(made) };
    return { data };
  },
});

/** Creates several data keys; path and response are those of Vault Enterprise. */
export const many = transitOperation({
  route: 'POST datakeys/:type/:name',
  ...computing,
  params: {
    ...params,
    count: integer({ help: 'Number of data keys, 1 to 1000.', default: 1 }),
  },
  cli: {
    lines: (data: DataKeysData) =>
      data.key_pairs.map(({ plaintext, ciphertext }) =>
        plaintext === undefined ? ciphertext : `${plaintext} ${ciphertext}`,
      ),
    examples: {
      'coffer transit datakeys wrapped orders --count 100': 'Print 100 encrypted data keys, one per line',
    },
  },
  async run({ engine }, values) {
    const made = await dataKeys(engine, values.name, values.count, requestOf(values));
    const data: DataKeysData = {
      key_pairs: made.map((key) => ({ ...openKey(key), ciphertext: key.ciphertext })),
      key_version: made[0]?.keyVersion ?? 0,
    };
    return { data };
  },
});

const openKey = ({ plaintext }: DataKey) => (plaintext === undefined ? {} : { plaintext });

const requestOf = (values: ValuesOf<typeof params>): DataKeyRequest => ({
  withPlaintext: values.type === 'plaintext',
  bits: values.bits,
  keyVersion: values.key_version,
  context: values.context,
  nonce: values.nonce,
  associatedData: values.associated_data,
  paddingScheme: values.padding_scheme,
  hashAlgorithm: values.hash_algorithm,
});
