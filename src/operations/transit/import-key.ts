import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { decodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import {
  asCofferError,
  attempt,
  CofferError,
  invalid,
  ownWords,
  unlessRefused,
} from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import { hasPrivateKey, refusePrivateKey, withoutPrivateKey } from '../../ground/private-key-text.ts';
import { systemRandom } from '../../ground/random.ts';
import { wrapForTransport } from '../../transit/key-exchange/wrapping.ts';
import { privateKeyFromPkcs8 } from '../../transit/key-types/der.ts';
import {
  DEFAULT_KEY_TYPE,
  encryptionTypeNames,
  keyTypeNames,
  keyTypes,
} from '../../transit/key-types/index.ts';
import { duration } from '../declaration/duration.ts';
import { done, type Runner } from '../declaration/operation.ts';
import { base64, flag, hidden, integer, text } from '../declaration/params.ts';
import {
  derived,
  existingKey,
  keyInPath,
  leaving,
  parameterSet,
  transitOperation,
  wrappingHashNames,
} from './parameters.ts';

/** Common parameters of both import operations. */
const incomingKey = {
  ciphertext: base64({
    help: 'An AES key, encrypted with the wrapping key (RSA-OAEP), followed by the key to import, encrypted with this AES key (AES-KWP).',
    default: '',
    cli: {
      help: 'Key to import: PEM, an OpenSSH file, base64 (symmetric) or an age identity; it is encrypted before it is sent to a server.',
    },
  }),
  public_key: text({
    help: 'Import only this public key, to encrypt or verify: PEM, or an age recipient.',
    default: '',
    cli: {
      help: 'Import only this public key, to encrypt or verify: PEM, a line of OpenSSH, or an age recipient.',
      metavar: 'PEM|@FILE',
      orFile: true,
    },
  }),
  hash_function: text({
    help: 'Hash function of RSA-OAEP, which encrypts the key on its way to the server.',
    default: 'SHA256',
    cli: { metavar: 'HASH', suggest: wrappingHashNames },
  }),
};

const KEY_INPUT = {
  param: 'ciphertext',
  as: 'text',
  what: 'the key',
  optional: true,
  expected: {
    what: 'a key',
    hint: 'use PEM, an OpenSSH file, a symmetric key in base64, or an age identity',
  },
} as const;

export const create = transitOperation({
  route: 'POST keys/:name/import',
  params: {
    name: keyInPath('Name of the new key.', { positional: true }),
    type: text({
      help: 'Key type, case-insensitive.',
      default: DEFAULT_KEY_TYPE,
      cli: { suggest: keyTypeNames },
    }),
    parameter_set: parameterSet,
    ...incomingKey,
    allow_rotation: flag({
      help: 'Allow rotating the key: each rotation adds a newly generated version.',
      default: false,
    }),
    derived,
    ...leaving,
    auto_rotate_period: duration({
      help: 'Rotate automatically when the latest version is this old (0: never); needs allow_rotation.',
      default: 0,
      cli: { metavar: 'DURATION' },
    }),
    convergent_encryption: flag(hidden('Not supported for imported keys.')),
  },
  cli: {
    makes: true,
    input: KEY_INPUT,
    resolve: wrapLocally,
    done: (values) => `Imported key ${values['name']} (${values['type']}, version 1).`,
    examples: {
      'coffer transit import releases --type ed25519 --in private.pem':
        'Import a private key; it is encrypted before it is sent to a server',
      'coffer transit import upstream --type rsa-4096 --in public.pem':
        'Import a public key for verification',
      'openssl rand -base64 32 | coffer transit import orders': 'Import a symmetric key',
      'coffer transit import inbox --type x25519 --in key.txt': 'Import an age identity',
    },
  },
  run: done(async ({ engine }, values) => {
    if (values.convergent_encryption !== undefined) {
      throw invalid(ownWords('import cannot be used on keys with convergent encryption enabled'), {
        field: 'convergent_encryption',
        hint: 'omit convergent_encryption',
      });
    }
    const { importKey } = await import('../../transit/key-exchange/import-key.ts');
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
  }),
});

export const addVersion = transitOperation({
  route: 'POST keys/:name/import_version',
  params: {
    name: existingKey,
    ...incomingKey,
    version: integer({
      help: 'Add the private key to version N, which has only its public key, instead of adding a version.',
    }),
  },
  cli: {
    input: KEY_INPUT,
    resolve: wrapLocally,
    done: (values) => `Imported a version of key ${values['name']}.`,
    examples: { 'coffer transit import-version releases --in next.pem': 'Add a version to an imported key' },
  },
  run: done(async ({ engine }, values) => {
    const { importVersion } = await import('../../transit/key-exchange/import-version.ts');
    await importVersion(engine, values.name, {
      ciphertext: values.ciphertext,
      publicKey: values.public_key,
      hashFunction: values.hash_function,
      version: values.version,
    });
  }),
});

export const derive = transitOperation({
  route: 'POST derive-key/:name',
  withoutSecret: true,
  params: {
    name: keyInPath(
      'Name of the derived key. If an imported or derived key already has this name, it gets a new version.',
      {
        positional: true,
      },
    ),
    key_derivation_algorithm: text({
      help: 'Key agreement algorithm: ecdh.',
      default: 'ecdh',
      cli: { suggest: () => ['ecdh'] },
    }),
    peer_public_key: text({
      help: 'Public key of the peer, PEM.',
      default: '',
      cli: { metavar: 'PEM', check: withoutPrivateKey('the public key') },
    }),
    base_key_name: text({
      help: "Your key, of an ECDSA type; its private key is combined with the peer's public key.",
      default: '',
      cli: { refersTo: 'key' },
    }),
    base_key_version: integer({ help: 'Version of the base key (0: latest).', default: 0 }),
    derived_key_type: text({
      help: 'Type of the derived key, case-insensitive; encryption types only. Default: aes256-gcm96, or the type of an existing key.',
      cli: { suggest: encryptionTypeNames },
    }),
  },
  cli: {
    input: { param: 'peer_public_key', as: 'text' },
    done: (values) => `Derived key ${values['name']}.`,
    examples: {
      'coffer transit derive-key with-bob --base-key-name mine --in bob.pem': 'Derive a key shared with Bob',
    },
  },
  run: done(async ({ engine }, values) => {
    const { deriveKey } = await import('../../transit/key-exchange/derive-key.ts');
    await deriveKey(engine, values.name, {
      algorithm: values.key_derivation_algorithm,
      peerPublicKey: values.peer_public_key,
      baseKeyName: values.base_key_name,
      baseKeyVersion: values.base_key_version,
      type: values.derived_key_type,
    });
  }),
});

/** Length of the wrapped AES key, in bytes: a shorter input is not wrapped, nor is one that is a key in PKCS #8. */
const WRAPPED_AES_KEY_BYTES = 512;

/**
 * Wraps a plain key locally, because the API requires a wrapped one, so that it is never sent in the clear. A public
 * key in PEM is moved to its own parameter, unless a private key is beside it.
 * @throws `invalid` if a private key was given as the public one
 * @see docs/decisions/0024
 */
async function wrapLocally(raw: JsonObject, runner: Runner): Promise<JsonObject> {
  const { ciphertext: given, ...others } = raw;
  refusePrivateKey(String(raw['public_key'] ?? ''), 'public_key');
  if (typeof given !== 'string' || given === '') {
    const publicKey = await pemOfSshLine(raw['public_key']);
    return publicKey === undefined ? raw : { ...raw, public_key: publicKey };
  }
  const publicKey = await publicKeyIn(given);
  if (publicKey !== undefined) return { ...others, public_key: publicKey };
  const key = await keyBytes(given);
  if (key === undefined) return raw;
  try {
    const hash = String(raw['hash_function'] ?? 'SHA256');
    const wrapping = createPublicKey(await wrappingKeyOf(runner));
    return { ...raw, ciphertext: wrapForTransport(wrapping, hash, key, systemRandom).toString('base64') };
  } finally {
    wipe(key);
  }
}

const isPublic = (given: string): boolean =>
  /-----BEGIN [A-Z ]*PUBLIC KEY-----/.test(given) || /^\s*age1/i.test(given);

/** Returns a public key as the API requires it; undefined if there is none, or also a private key. */
async function publicKeyIn(given: string): Promise<string | undefined> {
  if (hasPrivateKey(given)) return undefined;
  return isPublic(given) ? given : pemOfSshLine(given);
}

/** Converts a line of a `.pub` file to PEM, which the API requires; undefined for anything else. */
async function pemOfSshLine(given: unknown): Promise<string | undefined> {
  if (typeof given !== 'string' || !SSH_LINE.test(given)) return undefined;
  const { parseSshLine } = await import('../../signatures/ssh-key.ts');
  const key = unlessRefused(() => parseSshLine(given)?.key, undefined);
  return key?.export({ format: 'pem', type: 'spki' }).toString();
}

const SSH_LINE = /^\s*(?:ssh|ecdsa)-\S+ /;

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/g;
const AGE_IDENTITY = /^\s*AGE-SECRET-KEY-/i;

/** Returns the bytes to wrap; undefined if they seem to be wrapped already. */
async function keyBytes(given: string): Promise<Buffer | undefined> {
  if ([...given.matchAll(PRIVATE_KEY)].length > 1) {
    throw invalid(ownWords('the input has several private keys'), { hint: 'use a file with one of them' });
  }
  if (given.includes('-----BEGIN ')) return pkcs8Of(given);
  if (given.split('\n').some((line) => AGE_IDENTITY.test(line))) return identityBytes(given);
  const bytes = decodeBase64(given.trim(), 'ciphertext');
  const isShort = bytes.length > 0 && bytes.length <= WRAPPED_AES_KEY_BYTES;
  return isShort || attempt(() => privateKeyFromPkcs8(bytes)) !== undefined ? bytes : undefined;
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
  throw invalid(ownWords('not an importable age identity'), {
    hint: 'use a file with one line AGE-SECRET-KEY-…, and --type with its key type, e.g. x25519 or mlkem768-x25519',
  });
}

/**
 * Reads the private key. A public one beside it is of no use, but must be its own: else it is unclear which of the two
 * is meant.
 */
async function pkcs8Of(given: string): Promise<Buffer> {
  const key = given.includes('-----BEGIN OPENSSH') ? await sshKeyIn(given) : pemKeyIn(given);
  const own = createPublicKey(key);
  const others = given.match(PUBLIC_KEY) ?? [];
  if (others.every((pem) => attempt(() => createPublicKey(pem).equals(own), false)))
    return key.export({ format: 'der', type: 'pkcs8' });
  throw invalid(ownWords('the input has a private key, and the public key of another'), {
    hint: 'use a file with one of them',
  });
}

const PUBLIC_KEY = /-----BEGIN [A-Z ]*PUBLIC KEY-----[^-]*-----END [A-Z ]*PUBLIC KEY-----/g;

/** Parses a private key in OpenSSH's own format, which OpenSSL cannot read. */
async function sshKeyIn(text: string): Promise<KeyObject> {
  const { ALL_READERS, parseSshPrivateKey } = await import('../../signatures/ssh-private-key.ts');
  try {
    const key = parseSshPrivateKey(text, ALL_READERS);
    if (key !== undefined) return key;
  } catch (error) {
    const refusal = asCofferError(error);
    throw refusal === undefined ? error : invalid(refusal.message, { hint: refusal.hint, cause: error });
  }
  throw invalid(ownWords('the private key cannot be read'), { hint: 'check that the file is complete' });
}

function pemKeyIn(pem: string): KeyObject {
  try {
    return readPem(pem);
  } catch {
    throw invalid(ownWords('the private key cannot be read'), {
      hint: 'use an unencrypted PEM file: "openssl pkey -in FILE" removes the passphrase',
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
    throw new CofferError(
      'unavailable',
      ownWords('unexpected response of the server: it has no wrapping key'),
    );
  return publicKey;
}
