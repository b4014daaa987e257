import { createPrivateKey, createPublicKey } from 'node:crypto';
import { decodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import { CofferError, invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { systemRandom } from '../../ground/random.ts';
import { wrapForTransport } from '../../transit/key-exchange/wrapping.ts';
import type { Runner } from '../declaration/operation.ts';

type Raw = Readonly<Record<string, unknown>>;

/** Nothing that is wrapped is this short: the wrapped AES key alone has so many bytes. */
const WRAPPED_AES_KEY_BYTES = 512;

/**
 * Lets people give the key itself where the API takes a wrapped one: it is wrapped on their machine, and never sent as it
 * is. A public key in PEM goes into its own parameter.
 */
export async function wrapLocally(raw: Raw, runner: Runner): Promise<Raw> {
  const { ciphertext: given, ...others } = raw;
  if (typeof given !== 'string' || given === '') return raw;
  if (/-----BEGIN [A-Z ]*PUBLIC KEY-----/.test(given)) return { ...others, public_key: given };
  const key = keyBytes(given);
  if (key === undefined) return raw;
  try {
    const hash = String(raw['hash_function'] ?? 'SHA256');
    const publicKey = createPublicKey(await wrappingKeyOf(runner));
    return { ...raw, ciphertext: wrapForTransport(publicKey, hash, key, systemRandom).toString('base64') };
  } finally {
    wipe(key);
  }
}

/** The bytes to wrap, or undefined when they seem to be wrapped already. */
function keyBytes(given: string): Buffer | undefined {
  if (given.includes('-----BEGIN ')) return pkcs8Of(given);
  const bytes = decodeBase64(given.trim(), 'ciphertext');
  return bytes.length > 0 && bytes.length <= WRAPPED_AES_KEY_BYTES ? bytes : undefined;
}

function pkcs8Of(pem: string): Buffer {
  try {
    return createPrivateKey(pem).export({ format: 'der', type: 'pkcs8' });
  } catch {
    throw invalid('the private key cannot be read', {
      field: 'ciphertext',
      hint: 'give it in PEM and not encrypted ("openssl pkey -in FILE" takes the passphrase off)',
    });
  }
}

async function wrappingKeyOf(runner: Runner): Promise<string> {
  const { data } = await runner.run('transit wrapping-key', {});
  const publicKey = isObject(data) ? data['public_key'] : undefined;
  if (typeof publicKey !== 'string')
    throw new CofferError('unavailable', 'the answer has no wrapping key in it');
  return publicKey;
}
