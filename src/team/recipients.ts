import { createPublicKey, type KeyObject } from 'node:crypto';
import { unlessRefused, unsupported } from '../ground/errors.ts';
import { modulusBitsOf } from '../ground/foreign-keys.ts';
import { keyOfSshBlob, sshBlob } from '../signatures/ssh-key.ts';
import {
  type PluginHost,
  pluginOfRecipient,
  pluginRecipient,
  STORE_PLUGIN,
} from '../transit/envelope/age/plugin.ts';
import {
  type AnyRecipient,
  ageRecipient,
  isOwnRecipient,
  parseRecipient,
} from '../transit/envelope/age/recipients.ts';
import { sshRecipient } from '../transit/envelope/age/ssh.ts';
import { isSoundEd25519 } from '../transit/key-types/age/sound-point.ts';

/** Public keys in cards: which can be encrypted to, and which can sign. Each has only one encoding. */

const SSH = /^(ssh-ed25519|ssh-rsa) ([A-Za-z0-9+/]+={0,2})$/;
/** Maximum length in characters: longer than any key in use. */
const MAX_CHARACTERS = 4096;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 16384;
/** SSH's encoding of an Ed25519 key before the key: a length, the name, a length (RFC 8709). */
const ED25519_HEAD = Buffer.from('\0\0\0\x0bssh-ed25519\0\0\0\x20', 'latin1');
const ED25519 = 'ssh-ed25519 ';

/**
 * Parses an SSH key.
 * @returns undefined if it is malformed, or not in its only encoding
 */
function sshKeyOf(text: string) {
  const [, name, base64 = ''] = SSH.exec(text) ?? [];
  const blob = Buffer.from(base64, 'base64');
  if (name === undefined || blob.toString('base64') !== base64) return undefined;
  return unlessRefused(() => {
    const key = keyOfSshBlob(blob);
    if (!sshBlob(key).equals(blob) || blob.toString('latin1', 4, 4 + name.length) !== name) return undefined;
    const bits = modulusBitsOf(key);
    const isRight =
      bits === undefined
        ? isSoundEd25519(blob.subarray(ED25519_HEAD.length))
        : bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS;
    return isRight ? { key, blob } : undefined;
  }, undefined);
}

/**
 * Whether a line is an Ed25519 key in its only encoding. Each command judges the whole keyring, which may have
 * thousands of members; creating a key object of each would add a third to the time of parsing them.
 */
function isEd25519(text: string): boolean {
  if (!text.startsWith(ED25519)) return false;
  const base64 = text.slice(ED25519.length);
  const blob = Buffer.from(base64, 'base64');
  const head = blob.subarray(0, ED25519_HEAD.length);
  return (
    head.equals(ED25519_HEAD) &&
    isSoundEd25519(blob.subarray(ED25519_HEAD.length)) &&
    blob.toString('base64') === base64
  );
}

/**
 * Whether a line is a public key that files can be encrypted to, in its only encoding. A plugin's is not checked
 * further: only the plugin could do that, and judging a keyring runs no program.
 */
export function isRecipient(text: string): boolean {
  if (text.length > MAX_CHARACTERS) return false;
  if (text.startsWith('ssh-')) return isEd25519(text) || sshKeyOf(text) !== undefined;
  if (!/^age1[\x21-\x7e]+$/.test(text) || text !== text.toLowerCase()) return false;
  return unlessRefused(() => {
    if (!isOwnRecipient(text)) return pluginOfRecipient(text) !== undefined;
    const { kem, bytes } = parseRecipient(text);
    return kem.isSound?.(bytes) ?? true;
  }, false);
}

/** Whether a line is a public signing key. */
export const isSigner = (text: string): boolean => text.length <= MAX_CHARACTERS && isEd25519(text);

/**
 * Returns the key of a valid signing line.
 * @throws RangeError
 */
export function signerOf(text: string): KeyObject {
  const found = sshKeyOf(text);
  if (found === undefined) throw new RangeError('not a signing key');
  return found.key;
}

/**
 * Returns the recipient of a valid line.
 * @param host runs the plugin of a line that is one's
 * @throws `invalid`, `unsupported` if it is not one
 * @see docs/decisions/0316
 */
export function recipientOf(text: string, host: PluginHost): AnyRecipient {
  const ssh = sshKeyOf(text);
  if (ssh !== undefined) return sshRecipient(ssh.key, ssh.blob);
  const plugin = isOwnRecipient(text) ? undefined : pluginOfRecipient(text);
  if (plugin === STORE_PLUGIN) {
    throw unsupported(
      'age1coffer1… names a key in your own store: other members would encrypt with a key in their stores',
      {
        hint: 'use the public key: coffer transit keys public KEY --format age',
      },
    );
  }
  return plugin === undefined ? ageRecipient(text) : pluginRecipient(plugin, text, host);
}

/** Formats an SSH public key for cards. */
export function sshLineOf(key: KeyObject): string {
  const blob = sshBlob(key.type === 'private' ? createPublicKey(key) : key);
  const name = blob.toString('latin1', 4, 4 + blob.readUInt32BE(0));
  return `${name} ${blob.toString('base64')}`;
}
