import { denied, ownWords } from '../../ground/errors.ts';
import type { JsonObject } from '../../ground/objects.ts';
import { reencrypt } from '../../transit/rewrap.ts';
import { type Caller, computing, type MountCall } from '../declaration/operation.ts';
import type { ValuesOf } from '../declaration/params.ts';
import {
  answered,
  batchOf,
  contextsApart,
  encrypted,
  itemKeyVersion,
  keyInPath,
  nonceOf,
  reference,
  textOrBase64,
  transitOperation,
  versionOf,
} from './parameters.ts';
import { rewrapItem, rewrapParameters } from './rewrap.ts';

const parameters = {
  ...rewrapParameters,
  context: textOrBase64('Derivation context of the old ciphertext, base64; required for derived keys.'),
  associated_data: textOrBase64('Additional authenticated data of the old ciphertext, base64.'),
  nonce: nonceOf(' of the old ciphertext'),
  encrypt_context: textOrBase64(
    'Derivation context of the new ciphertext, base64. Default: that of the old one.',
  ),
  encrypt_associated_data: textOrBase64(
    'Additional authenticated data of the new ciphertext, base64. Default: that of the old one.',
  ),
  encrypt_nonce: nonceOf(' of the new ciphertext'),
};
const itemFields = { ...parameters, key_version: itemKeyVersion, reference };

export const declaration = transitOperation({
  // Not below `rewrap/`: policies for `rewrap/*` did not allow transferring the content of another key's ciphertexts.
  route: 'POST reencrypt/:name/:destination',
  ...computing,
  params: {
    name: keyInPath('Key that the ciphertext is encrypted with.'),
    destination: keyInPath('Key to encrypt the new ciphertext with.'),
    ...parameters,
    key_version: versionOf('DESTINATION to encrypt with'),
    batch_input: batchOf('ciphertexts', itemFields),
  },
  cli: {
    batch: contextsApart,
    input: { param: 'ciphertext', as: 'text', what: 'the ciphertext' },
    result: { member: 'ciphertext', as: 'text' },
    examples: {
      'coffer transit reencrypt orders archive service:v1:…':
        'Decrypt with the key "orders" and encrypt with the key "archive"',
      'coffer transit reencrypt orders archive --batch old.ndjson --out new.ndjson':
        'Re-encrypt many ciphertexts, one JSON object per line',
    },
  },
  async run(call, values) {
    const { name, destination } = values;
    const keys = { source: name, destination, isComparable: requireBothPolicies(call, name, destination) };
    const item = reencryptItem(values.key_version);
    return answered(values, item, (items) => reencrypt(call.engine, keys, items), encrypted);
  },
});

/**
 * Requires that the caller may rewrap with the source and encrypt with the destination, in addition to this operation's
 * path, which names both keys; and that the caller cannot read anything by it that they could not decrypt before.
 * @returns whether the caller may decrypt with the source
 * @see docs/decisions/0302
 */
function requireBothPolicies({ caller, mount, sent = {} }: MountCall, source: string, destination: string) {
  const ofSource = sentAlone(sent, ENCRYPT);
  const ofDestination = { ...sentAlone(sent, DECRYPT), ...sentAs(sent, ENCRYPT) };
  delete ofDestination['ciphertext'];
  const mayMove =
    caller.may(`${mount}/rewrap/${source}`, 'update', ofSource) &&
    caller.may(`${mount}/encrypt/${destination}`, 'update', ofDestination);
  const mayRead = caller.may(`${mount}/decrypt/${source}`, 'update', ofSource);
  if (mayMove && (mayRead || !mayEverRead(caller, mount, destination))) return mayRead;
  throw denied(ownWords('permission denied'), {
    field: 'destination',
    hint: `the token needs "update" on rewrap/${source} and encrypt/${destination}; also on decrypt/${source} if it can decrypt with the key ${destination}, or export or import that key`,
  });
}

const DECRYPT = 'decrypt_';
const ENCRYPT = 'encrypt_';

/** Omits the parameters of the other side. */
const sentAlone = (sent: JsonObject, others: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(sent).filter(([name]) => !name.startsWith(others)));

/** Returns the parameters of the new ciphertext under their names in `encrypt`. */
const sentAs = (sent: JsonObject, prefix: string): JsonObject =>
  Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
    ),
  );

/**
 * Whether a policy allows, with any spelling, parameters and wrapping, to decrypt with a key, to export it, or to
 * import it: there is a copy of an imported key. Errs on the side of one permission too many.
 */
const mayEverRead = (caller: Caller, mount: string, key: string): boolean =>
  [
    `decrypt/${key}`,
    `export/encryption-key/${key}`,
    // For RSA, this is the encryption key as well.
    `export/signing-key/${key}`,
    `backup/${key}`,
    'byok-export',
    'restore',
    `keys/${key}/import`,
    `keys/${key}/import_version`,
  ].some((path) => {
    const whole = `${mount}/${path}`;
    return caller.reaches(whole) || caller.may(whole, 'update') || caller.may(whole, 'read');
  });

type ReencryptValues = Partial<ValuesOf<typeof itemFields>>;

/**
 * Converts an item.
 * @param keyVersion default for an item without one
 */
const reencryptItem = (keyVersion: number) => (values: ReencryptValues) => ({
  ...rewrapItem(keyVersion)(values),
  encryptContext: values.encrypt_context,
  encryptAssociatedData: values.encrypt_associated_data,
  encryptNonce: values.encrypt_nonce,
});
