import {
  constants,
  createHash,
  createPublicKey,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  timingSafeEqual,
} from 'node:crypto';
import { attempt, unsupported } from '../../../ground/errors.ts';
import { modulusBitsOf } from '../../../ground/foreign-keys.ts';
import { SECRET_BYTES } from '../../key-types/age/kem.ts';
import { openWithEd25519, sealForEd25519 } from '../../key-types/age/ssh-ed25519.ts';
import { damaged } from '../refusals.ts';
import { FILE_KEY_BYTES, printUnpadded, type Stanza, unpadded } from './header.ts';
import { type AgeIdentity, type Recipient, requireShape } from './recipients.ts';

/** SSH keys as recipients and identities (C2SP, age.md, "ssh-rsa" and "ssh-ed25519"). */

const ED25519 = 'ssh-ed25519';
const RSA = 'ssh-rsa';
/** Minimum RSA key size, as in age: shorter keys are insecure. */
const MIN_RSA_BITS = 2048;

const oaep = (key: KeyObject) => ({
  key,
  padding: constants.RSA_PKCS1_OAEP_PADDING,
  oaepHash: 'sha256',
  oaepLabel: Buffer.from('age-encryption.org/v1/ssh-rsa'),
});

/**
 * Computes the short tag that hints at the recipient of a stanza.
 * @param blob public key in SSH's encoding
 */
const tagOf = (blob: Uint8Array): string =>
  printUnpadded(createHash('sha256').update(blob).digest().subarray(0, 4));

/**
 * Whether a stanza is probably for an SSH key. It needs only the public key, so that a passphrase is asked for only if
 * the private key is needed.
 * @param blob public key in SSH's encoding
 */
export function isForSshKey(blob: Uint8Array, stanzas: readonly Stanza[]): boolean {
  const tag = tagOf(blob);
  return stanzas.some(({ type, args }) => (type === ED25519 || type === RSA) && args[0] === tag);
}

/**
 * Creates a recipient.
 * @param blob the same key in SSH's encoding
 * @throws `unsupported`
 */
export function sshRecipient(key: KeyObject, blob: Uint8Array): Recipient {
  const type = typeOf(key, blob);
  const tag = tagOf(blob);
  return {
    group: 'classical',
    async wrap(fileKey): Promise<Stanza> {
      if (type === RSA) return { type, args: [tag], body: publicEncrypt(oaep(key), fileKey) };
      const { encapsulated, body } = await sealForEd25519(key, blob, fileKey);
      return { type, args: [tag, printUnpadded(encapsulated)], body: Buffer.from(body) };
    },
  };
}

/**
 * Creates an identity.
 * @param blob public key in SSH's encoding
 * @throws `unsupported`
 */
export function sshIdentity(privateKey: KeyObject, blob: Uint8Array): AgeIdentity {
  const publicKey = createPublicKey(privateKey);
  const own = typeOf(publicKey, blob);
  const tag = Buffer.from(tagOf(blob));
  return {
    async unwrap(stanzas) {
      for (const { type, args, body } of stanzas.filter((stanza) => stanza.type === own)) {
        const given = Buffer.from(args[0] ?? '');
        if (given.length !== tag.length) throw damaged('a recipient in its header names no SSH key');
        if (!timingSafeEqual(given, tag)) continue;
        const fileKey = type === RSA ? openWithRsa(privateKey, args, body) : await openEd25519(args, body);
        if (fileKey !== undefined) return fileKey;
      }
      return undefined;
    },
  };
  function openEd25519(args: readonly string[], body: Buffer) {
    const [, share = ''] = requireShape(args, 2, body);
    const encapsulated = unpadded(share, SECRET_BYTES);
    return openWithEd25519(privateKey, publicKey, blob, { encapsulated, body });
  }
}

function openWithRsa(key: KeyObject, args: readonly string[], body: Buffer): Buffer | undefined {
  if (args.length !== 1) throw damaged('a recipient in its header has too few or too many values');
  const fileKey = attempt(() => privateDecrypt(oaep(key), body));
  return fileKey?.length === FILE_KEY_BYTES ? fileKey : undefined;
}

/**
 * Returns the stanza type, which is SSH's name of the key type.
 * @throws `unsupported` for a key that cannot be a recipient
 */
function typeOf(key: KeyObject, blob: Uint8Array): string {
  const type = Buffer.from(blob).toString('latin1', 4, 4 + Buffer.from(blob).readUInt32BE(0));
  if (type !== ED25519 && type !== RSA) {
    throw unsupported(`cannot encrypt to SSH keys of type ${type}`, {
      hint: 'use an ssh-ed25519 or ssh-rsa key, or an age recipient',
    });
  }
  const bits = modulusBitsOf(key) ?? MIN_RSA_BITS;
  if (bits >= MIN_RSA_BITS) return type;
  throw unsupported(`an RSA key of ${bits} bits is too short`, {
    hint: `use an RSA key of ${MIN_RSA_BITS} bits or more`,
  });
}
