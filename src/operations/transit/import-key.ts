import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { decodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import { CofferError, invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { ownWords } from '../../ground/own-words.ts';
import { systemRandom } from '../../ground/random.ts';
import { importKey } from '../../transit/key-exchange/import-key.ts';
import { importVersion } from '../../transit/key-exchange/import-version.ts';
import { wrapForTransport } from '../../transit/key-exchange/wrapping.ts';
import { DEFAULT_KEY_TYPE, keyTypeNames, keyTypes } from '../../transit/key-types/index.ts';
import { privateKeyFromPkcs8 } from '../../transit/key-types/pkcs8.ts';
import type { Runner } from '../declaration/operation.ts';
import { base64, duration, flag, integer, text } from '../declaration/params.ts';
import { existingKey, keyName, parameterSet, transitOperation } from './parameters.ts';

/** Common parameters of both import operations. */
const incomingKey = {
  ciphertext: base64({
    help: 'The key, wrapped under the wrapping key: an AES key under RSA-OAEP, then the key under AES-KWP. A command line also takes the key itself (PEM, base64 of a symmetric key, or an identity of age) and wraps it.',
    default: '',
  }),
  public_key: text({
    help: 'A public key alone, in PEM, or a recipient of age; for types that sign, or that others encrypt to.',
    default: '',
    cli: { metavar: 'PEM' },
  }),
  hash_function: text({
    help: 'Hash of RSA-OAEP.',
    default: 'SHA256',
    cli: { metavar: 'HASH', suggest: () => ['SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512'] },
  }),
};

export const create = transitOperation({
  route: 'POST keys/:name/import',
  capability: 'update',
  params: {
    name: keyName({ help: 'Name of the new key.', required: true, cli: { positional: true } }),
    type: text({ help: 'Key type, in any case.', default: DEFAULT_KEY_TYPE, cli: { suggest: keyTypeNames } }),
    parameter_set: parameterSet,
    ...incomingKey,
    allow_rotation: flag({ help: 'The key may be rotated; new versions are made here.', default: false }),
    derived: flag({ help: 'Each context has a key of its own, derived from this one.', default: false }),
    exportable: flag({ help: 'Key material may be exported; cannot be undone.', default: false }),
    allow_plaintext_backup: flag({
      help: 'The key may be backed up in plaintext; cannot be undone.',
      default: false,
    }),
    auto_rotate_period: duration({
      help: 'Rotate by itself when the latest version is this old; 0 for never. Needs allow_rotation.',
      default: 0,
      cli: { metavar: 'DURATION' },
    }),
    convergent_encryption: flag({
      help: 'Not possible for imported keys; refused when it is there at all.',
      cli: { hidden: true },
    }),
  },
  cli: {
    makes: true,
    input: { param: 'ciphertext', as: 'text', optional: true },
    resolve: wrapLocally,
    done: (values) => `Imported key ${values['name']}.`,
    examples: [
      ['coffer transit import releases --type ed25519 --in private.pem', 'a private key; wrapped on the way'],
      ['coffer transit import upstream --type rsa-4096 --in public.pem', 'a public key, to verify with'],
      ['openssl rand -base64 32 | coffer transit import orders', 'a symmetric key'],
      ['coffer transit import inbox --type x25519 --in key.txt', 'what age-keygen wrote'],
    ],
  },
  async run({ engine }, values) {
    if (values.convergent_encryption !== undefined) {
      throw invalid(ownWords('import cannot be used on keys with convergent encryption enabled'), {
        field: 'convergent_encryption',
        hint: 'leave it out',
      });
    }
    await importKey(engine, values.name, {
      type: values.type,
      parameterSet: values.parameter_set,
      ciphertext: values.ciphertext,
      publicKey: values.public_key,
      hashFunction: values.hash_function,
      allowRotation: values.allow_rotation,
      derived: values.derived,
      exportable: values.exportable,
      allowPlaintextBackup: values.allow_plaintext_backup,
      autoRotatePeriodSeconds: values.auto_rotate_period,
    });
    return {};
  },
});

export const addVersion = transitOperation({
  route: 'POST keys/:name/import_version',
  capability: 'update',
  params: {
    name: existingKey,
    ...incomingKey,
    version: integer({
      help: 'Complete this version, of which only the public key is known, instead of adding one.',
      cli: { metavar: 'N' },
    }),
  },
  cli: {
    input: { param: 'ciphertext', as: 'text', optional: true },
    resolve: wrapLocally,
    done: (values) => `Imported a version of key ${values['name']}.`,
    examples: [
      ['coffer transit import-version releases --in next.pem', 'the next version of an imported key'],
    ],
  },
  async run({ engine }, values) {
    await importVersion(engine, values.name, {
      ciphertext: values.ciphertext,
      publicKey: values.public_key,
      hashFunction: values.hash_function,
      version: values.version,
    });
    return {};
  },
});

type Raw = Readonly<Record<string, unknown>>;

/** Length of the wrapped AES key, in bytes: a shorter input is not wrapped. */
const WRAPPED_AES_KEY_BYTES = 512;

/**
 * Wraps a plain key locally, because the API requires a wrapped one, so that it is never sent in the clear. A public
 * key in PEM is moved to its own parameter.
 * @see docs/decisions/0024
 */
async function wrapLocally(raw: Raw, runner: Runner): Promise<Raw> {
  const { ciphertext: given, ...others } = raw;
  if (typeof given !== 'string' || given === '') return raw;
  if (/-----BEGIN [A-Z ]*PUBLIC KEY-----/.test(given) || /^\s*age1/i.test(given)) {
    return { ...others, public_key: given };
  }
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

const AGE_IDENTITY = /^\s*AGE-SECRET-KEY-/i;

/** Returns the bytes to wrap; undefined if they seem to be wrapped already. */
function keyBytes(given: string): Buffer | undefined {
  if (given.includes('-----BEGIN ')) return pkcs8Of(given);
  if (given.split('\n').some((line) => AGE_IDENTITY.test(line))) return identityBytes(given);
  const bytes = decodeBase64(given.trim(), 'ciphertext');
  return bytes.length > 0 && bytes.length <= WRAPPED_AES_KEY_BYTES ? bytes : undefined;
}

/** Parses a file of age-keygen: comments, and one line with the identity. */
function identityBytes(given: string): Buffer {
  const lines = given.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line));
  const [identity = ''] = lines;
  const types = lines.length === 1 ? keyTypes() : [];
  for (const { importing } of types) {
    const bytes = importing?.identityBytes?.(identity.trim());
    if (bytes !== undefined) return bytes;
  }
  throw invalid(ownWords('this is no identity of age that could be imported'), {
    field: 'ciphertext',
    hint: 'give one AGE-SECRET-KEY-…, and the type that is meant',
  });
}

function pkcs8Of(pem: string): Buffer {
  try {
    return readPem(pem).export({ format: 'der', type: 'pkcs8' });
  } catch {
    throw invalid(ownWords('the private key cannot be read'), {
      field: 'ciphertext',
      hint: 'give it in PEM and not encrypted ("openssl pkey -in FILE" takes the passphrase off)',
    });
  }
}

/**
 * Parses a private key.
 * @throws an error for a malformed one
 */
function readPem(pem: string): KeyObject {
  const plain = /-----BEGIN PRIVATE KEY-----([^-]*)-----END PRIVATE KEY-----/.exec(pem)?.[1];
  return plain === undefined ? createPrivateKey(pem) : privateKeyFromPkcs8(Buffer.from(plain, 'base64'));
}

async function wrappingKeyOf(runner: Runner): Promise<string> {
  const { data } = await runner.run('transit wrapping-key', {});
  const publicKey = isObject(data) ? data['public_key'] : undefined;
  if (typeof publicKey !== 'string')
    throw new CofferError('unavailable', ownWords('the answer has no wrapping key in it'));
  return publicKey;
}
