import { asCofferError } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import { BEGIN } from '../transit/envelope/age/detect.ts';
import { decryptBytes, encryptBytes } from '../transit/envelope/age/in-memory.ts';
import type { AgeIdentity, Recipient } from '../transit/envelope/age/recipients.ts';
import { recipientOf } from './recipients.ts';

/** Encrypts secrets of 32 bytes in age files as text, which `age` can open as well. */

/** Length of root keys and of seeds of signing keys, in bytes. */
export const SECRET_BYTES = 32;

/**
 * Encrypts a secret to keys: one age file for post-quantum recipients and one for the others, because the two cannot be
 * mixed in one file.
 * @throws `invalid`, `unsupported` for a key that cannot be encrypted to
 */
export async function armorFor(keys: readonly string[], secret: Uint8Array, random: Random): Promise<string> {
  const recipients = [...new Set(keys)].map(recipientOf);
  const groups: readonly Recipient['group'][] = ['classical', 'post-quantum'];
  const files: string[] = [];
  for (const group of groups) {
    const some = recipients.filter((recipient) => recipient.group === group);
    if (some.length === 0) continue;
    const file = await encryptBytes(secret, { recipients: some, armor: true, random });
    files.push(file.toString('latin1'));
  }
  return files.join('');
}

/** Whether a secret can be encrypted to all of these keys. */
export async function canReceive(keys: readonly string[], random: Random): Promise<boolean> {
  try {
    await armorFor(keys, Buffer.alloc(SECRET_BYTES), random);
    return true;
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return false;
  }
}

/**
 * Decrypts the secret in age files.
 * @param place position of the stanza that is probably for the identity; it is tried first
 * @returns undefined if none is for this identity, or the content is not such a secret
 */
export async function openArmor(
  armor: string,
  identity: AgeIdentity,
  place = 0,
): Promise<Buffer | undefined> {
  for (const text of armor.split(`${BEGIN}\n`).slice(1)) {
    try {
      const file = Buffer.from(`${BEGIN}\n${text}`, 'latin1');
      const secret = await decryptBytes(file, [preferring(identity, place)]);
      if (secret.length === SECRET_BYTES) return secret;
    } catch (error) {
      // A signed armor may be malformed; treat it like one for other recipients.
      if (asCofferError(error) === undefined) throw error;
    }
  }
  return undefined;
}

const preferring = (identity: AgeIdentity, place: number): AgeIdentity => ({
  async unwrap(stanzas) {
    const probable = stanzas[place];
    const found = probable === undefined ? undefined : await identity.unwrap([probable]);
    return found ?? identity.unwrap(stanzas);
  },
});

/** Converts one line of base64, as in cards, to an armored age file. */
export const armorOfLine = (base64: string): string =>
  `${BEGIN}\n${base64.replace(/.{1,64}/g, '$&\n')}-----END AGE ENCRYPTED FILE-----\n`;

/** Converts one armored age file to one line of base64, the inverse. */
export const lineOfArmor = (armor: string): string => armor.replace(/-----[A-Z ]+-----|\n/g, '');
