import { isObject } from '../ground/objects.ts';
import { turn } from '../ground/pause.ts';
import type { Stanza } from '../transit/envelope/age/header.ts';
import { parseRecipient, sealedFor } from '../transit/envelope/age/recipients.ts';
import { type Runner, resultOf } from './declaration/operation.ts';

/**
 * Named keys as age recipients and identities, wherever operations run.
 * @see docs/decisions/0162
 */

/** Runner of the operations. */
type OperationRunner = {
  run(operation: string, raw: Readonly<Record<string, unknown>>, mount: string): ReturnType<Runner['run']>;
};

interface RecipientVersion {
  readonly version: number;
  /** `age1…` */
  readonly recipient: string;
}

/**
 * Reads a named key as a recipient.
 * @throws as `transit keys read`
 */
export async function recipientKey(place: OperationRunner, name: string, mount: string) {
  const data = resultOf(await place.run('transit keys read', { name }, mount));
  const { type, keys } = isObject(data) ? data : {};
  const versions = Object.entries(isObject(keys) ? keys : {}).flatMap(([version, shown]) => {
    const recipient = isObject(shown) ? shown['public_key'] : undefined;
    const isRecipient = typeof recipient === 'string' && recipient.startsWith('age1');
    return isRecipient ? [{ version: Number(version), recipient }] : [];
  });
  return { type: typeof type === 'string' ? type : undefined, versions };
}

/** Returns the recipients of a named key, as `recipientKey`. */
export const recipientVersions = async (
  ...key: Parameters<typeof recipientKey>
): Promise<readonly RecipientVersion[]> => (await recipientKey(...key)).versions;

interface RecipientKeyVersions {
  readonly name: string;
  readonly mount: string;
  readonly versions: readonly RecipientVersion[];
}

/** Number of wrapped file keys tried per request. */
const BATCH = 200;

/**
 * Returns the stanzas that may be for a key, as ciphertexts that the store decrypts; empty if all are for other keys.
 * There may be thousands of stanzas, and each costs a hash or two, so other requests get their turn after each version.
 * @throws `inauthentic` for a malformed stanza
 */
export async function sealedForKey(
  versions: readonly RecipientVersion[],
  stanzas: readonly Stanza[],
): Promise<readonly { readonly ciphertext: string }[]> {
  const found: { readonly ciphertext: string }[] = [];
  // Latest version first: most files are recent.
  for (const { version, recipient } of [...versions].reverse()) {
    for (const { encapsulated, body } of sealedFor(parseRecipient(recipient), stanzas)) {
      const bytes = Buffer.concat([encapsulated, body]);
      found.push({ ciphertext: `service:v${version}:${bytes.toString('base64')}` });
    }
    await turn();
  }
  return found;
}

/**
 * Unwraps the file key of one of the stanzas, where the key is; undefined if none of them is for the key.
 * @throws as `transit decrypt`; `inauthentic` for a malformed stanza
 */
export async function unwrapStanzas(
  place: OperationRunner,
  { name, mount, versions }: RecipientKeyVersions,
  stanzas: readonly Stanza[],
): Promise<Buffer | undefined> {
  const ciphertexts = await sealedForKey(versions, stanzas);
  for (let from = 0; from < ciphertexts.length; from += BATCH) {
    const raw = { name, batch_input: ciphertexts.slice(from, from + BATCH) };
    const fileKey = opened(resultOf(await place.run('transit decrypt', raw, mount)));
    if (fileKey !== undefined) return fileKey;
  }
  return undefined;
}

/** Returns the first successful item of a batch. */
function opened(data: unknown): Buffer | undefined {
  const results = isObject(data) && Array.isArray(data['batch_results']) ? data['batch_results'] : [];
  for (const result of results) {
    const plaintext = isObject(result) && !('error' in result) ? result['plaintext'] : undefined;
    if (typeof plaintext === 'string' && plaintext !== '') return Buffer.from(plaintext, 'base64');
  }
  return undefined;
}
