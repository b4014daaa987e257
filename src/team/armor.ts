import { asCofferError } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import { BEGIN } from '../transit/envelope/age/detect.ts';
import { FILE_KEY_BYTES } from '../transit/envelope/age/header.ts';
import { decryptBytes, encryptBytes } from '../transit/envelope/age/in-memory.ts';
import type { PluginHost } from '../transit/envelope/age/plugin.ts';
import type { AgeIdentity, AnyRecipient, RecipientGroup } from '../transit/envelope/age/recipients.ts';
import { recipientOf } from './recipients.ts';

/** Encrypts secrets of 32 bytes in age files as text, which `age` can open as well. */

/** Length of root keys and of seeds of signing keys, in bytes. */
export const SECRET_BYTES = 32;

/** Encrypts secrets to the public keys of cards. */
export class ArmorSealer {
  readonly #random: Random;
  readonly #host: PluginHost;
  /** Group of each key that belongs to a plugin, so that the plugin is asked only once. */
  readonly #groups = new Map<string, Promise<RecipientGroup>>();

  /**
   * Creates a sealer.
   * @param host runs the plugins of keys that are theirs
   */
  constructor(random: Random, host: PluginHost) {
    this.#random = random;
    this.#host = host;
  }

  /**
   * Encrypts a secret: one age file for the recipients of each group, because groups cannot be mixed in one file.
   * @throws `invalid`, `unsupported` for a key that cannot be encrypted to; `unavailable` for a plugin that is missing
   * or fails
   */
  async armorFor(keys: readonly string[], secret: Uint8Array): Promise<string> {
    const byGroup = new Map<RecipientGroup, AnyRecipient[]>([
      ['classical', []],
      ['post-quantum', []],
    ]);
    for (const key of new Set(keys)) {
      const recipient = recipientOf(key, this.#host);
      const group = await this.#groupOf(key, recipient);
      byGroup.set(group, [...(byGroup.get(group) ?? []), recipient]);
    }
    const files: string[] = [];
    for (const recipients of byGroup.values()) {
      if (recipients.length === 0) continue;
      const file = await encryptBytes(secret, { recipients, armor: true, random: this.#random });
      files.push(file.toString('latin1'));
    }
    return files.join('');
  }

  /** Returns why a secret cannot be encrypted to all of these keys; undefined if it can. */
  async whyNot(keys: readonly string[]): Promise<string | undefined> {
    try {
      for (const key of keys) {
        const recipient = recipientOf(key, this.#host);
        await this.#groupOf(key, recipient);
        if (recipient.group !== undefined) await recipient.wrap(Buffer.alloc(FILE_KEY_BYTES));
      }
      return undefined;
    } catch (error) {
      const refusal = asCofferError(error);
      if (refusal === undefined) throw error;
      return refusal.message;
    }
  }

  #groupOf(key: string, recipient: AnyRecipient): Promise<RecipientGroup> | RecipientGroup {
    if (recipient.group !== undefined) return recipient.group;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    // A plugin says the group only with what it wraps.
    const group = recipient.wrapAll(this.#random.bytes(FILE_KEY_BYTES)).then((wrapped) => wrapped.group);
    this.#groups.set(key, group);
    return group;
  }
}

/**
 * Decrypts the secret in age files.
 * @param place position of the stanza that is probably for the identity; it is tried first
 * @returns undefined if none is for this identity, or the content is not such a secret
 * @throws `unavailable` for an identity of a plugin that is missing or fails
 */
export async function openArmor(
  armor: string,
  identity: AgeIdentity,
  place?: number,
): Promise<Buffer | undefined> {
  const probably = place === undefined ? identity : preferring(identity, place);
  for (const text of armor.split(`${BEGIN}\n`).slice(1)) {
    try {
      const file = Buffer.from(`${BEGIN}\n${text}`, 'latin1');
      const secret = await decryptBytes(file, [probably]);
      if (secret.length === SECRET_BYTES) return secret;
    } catch (error) {
      // A signed armor may be malformed; treat it like one for other recipients.
      const refusal = asCofferError(error);
      if (refusal === undefined || refusal.kind === 'unavailable') throw error;
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
