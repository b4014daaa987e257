import { denied } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { onlyValue } from '../../transit/batch.ts';
import { reencrypt } from '../../transit/rewrap.ts';
import type { MountCall, Outcome } from '../declaration/operation.ts';
import { base64, batch, type ValuesOf } from '../declaration/params.ts';
import {
  type EncryptedData,
  encrypted,
  engineItems,
  resultLines,
  type SingleOrBatch,
} from './batch-results.ts';
import {
  contextsApart,
  existingKey,
  itemKeyVersion,
  keyName,
  keyVersion,
  reference,
  transitOperation,
} from './parameters.ts';
import { rewrapItem, rewrapParameters } from './rewrap.ts';

const parameters = {
  ...rewrapParameters,
  encrypt_context: base64({
    help: 'Derivation context of the new ciphertext, base64; that of the old one, where nothing is said.',
    cli: { textTwin: true, metavar: 'B64' },
  }),
  encrypt_associated_data: base64({
    help: 'Data to authenticate with the new ciphertext, base64; those of the old one, where nothing is said.',
    cli: { textTwin: true, metavar: 'B64' },
  }),
  encrypt_nonce: base64({
    help: 'Nonce of the new ciphertext, base64; only for convergent keys of release 0.6.1.',
    cli: { metavar: 'B64' },
  }),
};
const itemFields = { ...parameters, key_version: itemKeyVersion, reference };

export const declaration = transitOperation({
  // Not below `rewrap/`: who was allowed `rewrap/*` was not allowed to hand over what another key holds.
  route: 'POST reencrypt/:name/:destination',
  capability: 'update',
  withoutSecret: true,
  computes: true,
  params: {
    name: existingKey,
    destination: keyName({
      help: 'The key to encrypt with.',
      required: true,
      cli: { positional: true, refersTo: 'key' },
    }),
    ...parameters,
    key_version: keyVersion,
    batch_input: batch(itemFields, { help: 'Many ciphertexts at once; those above are then ignored.' }),
  },
  cli: {
    batch: contextsApart,
    input: { param: 'ciphertext', as: 'text' },
    result: { member: 'ciphertext', as: 'text' },
    examples: [
      ['coffer transit reencrypt orders archive service:v1:…', 'the same plaintext under the key archive'],
      [
        'coffer transit reencrypt orders archive --batch old.ndjson --out new.ndjson',
        'a whole column of a database',
      ],
    ],
  },
  async run(call, values): Promise<Outcome<SingleOrBatch<EncryptedData, EncryptedData>>> {
    const { engine } = call;
    const { name, destination } = values;
    requireBothPolicies(call, name, destination);
    if (values.batch_input === undefined) {
      const item = reencryptItem(values, values.key_version);
      return { data: encrypted(onlyValue(await reencrypt(engine, name, destination, [item]))) };
    }
    const items = engineItems(values.batch_input, (item) => reencryptItem(item, values.key_version));
    const results = await reencrypt(engine, name, destination, items);
    return { data: { batch_results: resultLines(values.batch_input, results, encrypted) } };
  },
});

/**
 * Beside this operation's own path, which names both keys, the caller must be allowed to rewrap with the one and to encrypt with the
 * other; and nobody comes to read by it what he could not decrypt before.
 * @see docs/decisions/0302
 */
function requireBothPolicies({ caller, mount }: MountCall, source: string, destination: string): void {
  const may = (operation: string, key: string): boolean =>
    caller.may(`${mount}/${operation}/${key}`, 'update');
  const mayMove = may('rewrap', source) && may('encrypt', destination);
  if (mayMove && (may('decrypt', source) || !may('decrypt', destination))) return;
  throw denied(ownWords('permission denied'), {
    field: 'destination',
    hint: `it takes update on rewrap/${source} and encrypt/${destination}, and on decrypt/${source} for who may decrypt with the other`,
  });
}

type ItemValues = Partial<ValuesOf<typeof itemFields>>;

/** @param keyVersion for an item that does not say. */
const reencryptItem = (values: ItemValues, keyVersion: number) => ({
  ...rewrapItem(values, keyVersion),
  encryptContext: values.encrypt_context,
  encryptAssociatedData: values.encrypt_associated_data,
  encryptNonce: values.encrypt_nonce,
});
