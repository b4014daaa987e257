import { createHmac, hash } from 'node:crypto';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lengthPrefixed, wipe } from '../../ground/bytes.ts';
import { asCofferError, attempt, denied, expected, invalid, refusedAs } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { printLocation } from '../../store/backends/registry.ts';
import { MASTER_KEY_BYTES } from '../../store/master-key.ts';
import type { WrappedSecret } from '../../store/slots/slot-kind.ts';
import type { Stanza } from '../../transit/envelope/age/header.ts';
import { decryptBytes, encryptBytes, stanzasOf } from '../../transit/envelope/age/in-memory.ts';
import { STORE_PLUGIN } from '../../transit/envelope/age/plugin.ts';
import type { AgeIdentity } from '../../transit/envelope/age/recipients.ts';
import { isForSshKey } from '../../transit/envelope/age/ssh.ts';
import type { Environment } from '../given.ts';
import type { Session } from '../session.ts';
import { makeOwnDirectory, stateDirectory } from '../state-directory.ts';
import { findIdentities, type PersonalKey } from './identities.ts';
import type { NamedIdentities } from './identity-places.ts';
import { fileRecipients, type NamedRecipient, textRecipient } from './recipients.ts';

/** Secrets of key slots that are encrypted to a public key of age or SSH. */

/**
 * Creates the secret of a slot for each recipient, and remembers that the slots are the user's.
 * @param word `age1…`, an SSH public key, or `@FILE` with one per line
 * @throws `invalid` or `unsupported` for anything else
 */
export async function wrapSecrets(session: Session, word: string): Promise<readonly WrappedSecret[]> {
  const known = await KnownSlots.of(session.environment, session.settings.storeLocation);
  const secrets: WrappedSecret[] = [];
  for (const { text, recipient } of recipientsIn(session, word)) {
    if (OWN_PLUGIN.test(text)) throw inside();
    const secret = systemRandom.bytes(MASTER_KEY_BYTES);
    const wrapped = await encryptBytes(secret, {
      recipients: [recipient],
      armor: false,
      random: systemRandom,
    });
    known.add(secret);
    secrets.push({ recipient: text, secret, wrapped });
  }
  return secrets;
}

function recipientsIn(session: Session, word: string): readonly NamedRecipient[] {
  if (word.startsWith('@')) return fileRecipients(session, word.slice(1));
  const recipient = textRecipient(session, word);
  if (recipient !== undefined) return [recipient];
  throw invalid(`not a recipient: ${JSON.stringify(word.slice(0, 80))}`, {
    field: '--recipient',
    hint: 'expected age1…, an SSH public key, or @FILE with one per line; a key inside the store cannot unlock it',
  });
}

/** Our own plugin has to open a store itself, which may be this one. */
const OWN_PLUGIN = /^(?:age1coffer1|age-plugin-coffer$)/;

const inside = () =>
  invalid('a key that is in a store cannot unlock a store', {
    field: '--recipient',
    hint: 'use an SSH key, or an age identity outside of any store',
  });

/**
 * Decrypts one of several secrets with the user's private keys. Public keys are compared first, so a passphrase is
 * asked for only if its key is needed. Keys at the usual places are used only for slots that are known on this machine.
 * @returns undefined if keys were looked for at the usual places and none is for these slots; `none` if keys were named
 * and none is for them
 * @throws `denied` if a named key opens only a slot that this machine does not know, although others are known; errors
 * of named keys, and of any key if the user cannot be asked
 */
export async function unwrapSecret(
  session: Session,
  { named, location }: { readonly named: NamedIdentities; readonly location: Location },
  wrapped: readonly Uint8Array[],
): Promise<Uint8Array | 'none' | undefined> {
  const known = await KnownSlots.of(session.environment, location);
  const isNamed = named.path !== undefined || named.text !== undefined;
  if (!isNamed && !known.isAny) return undefined;
  const { keys } = await findIdentities(session, named);
  const files = (await Promise.all(wrapped.map(readable))).filter((file) => file !== undefined);
  let unknown = 0;
  const isTaken = (secret: Uint8Array): boolean => {
    if (known.has(secret) || named.isTrusted || (isNamed && !known.isAny)) return true;
    unknown++;
    return false;
  };
  let failure: unknown;
  const usable = keys.filter(({ plugin }) => plugin !== STORE_PLUGIN);
  // A plugin may need a touch or a PIN, so everything else is tried before.
  for (const key of usable.toSorted(
    (a, b) => Number(a.plugin !== undefined) - Number(b.plugin !== undefined),
  )) {
    try {
      const secret = await firstOf(key, files, isTaken);
      if (secret === undefined) continue;
      known.add(secret);
      return secret;
    } catch (error) {
      const refusal = expected(error);
      failure ??= error;
      if (isNamed || !session.prompts.available()) continue;
      session.warn(`${refusal.message}${refusal.hint === undefined ? '' : ` (${refusal.hint})`}`);
    }
  }
  if (failure !== undefined && (isNamed || !session.prompts.available())) throw failure;
  if (unknown > 0 && (isNamed || !session.prompts.available())) throw strange();
  return isNamed ? 'none' : undefined;
}

const strange = () =>
  denied(
    'this store may have been replaced: the key slot that your key opens was never added or opened on this machine',
    {
      hint: 'anyone can create a store that your key opens; if you added the slot on another machine, run "coffer unlock --identity FILE" once',
    },
  );

interface WrappedFile {
  readonly bytes: Uint8Array;
  readonly stanzas: readonly Stanza[];
}

/** Parses a file; undefined if it is damaged, which only affects its own slot. */
const readable = (bytes: Uint8Array): Promise<WrappedFile | undefined> =>
  stanzasOf(bytes).then((stanzas) => ({ bytes, stanzas }), refusedAs(undefined));

function mayBeFor(recipient: string, stanzas: readonly Stanza[]): boolean {
  const [, base64] = recipient.split(' ');
  return base64 === undefined || isForSshKey(Buffer.from(base64, 'base64'), stanzas);
}

/** Decrypts the first secret that is for a key and is taken. */
async function firstOf(
  key: PersonalKey,
  files: readonly WrappedFile[],
  isTaken: (secret: Uint8Array) => boolean,
): Promise<Uint8Array | undefined> {
  const candidates = files.filter(({ stanzas }) => mayBeFor(key.recipient, stanzas));
  if (candidates.length === 0) return undefined;
  const identity = await key.identity();
  for (const file of candidates) {
    const secret = await opened(file, identity);
    if (secret !== undefined && isTaken(secret)) return secret;
    wipe(secret);
  }
  return undefined;
}

/** Decrypts a file; undefined if it is for another key, damaged, or holds something else. */
async function opened({ bytes }: WrappedFile, identity: AgeIdentity): Promise<Uint8Array | undefined> {
  try {
    const secret = await decryptBytes(bytes, [identity]);
    if (secret.length === MASTER_KEY_BYTES) return secret;
    wipe(secret);
  } catch (error) {
    const kind = asCofferError(error)?.kind;
    if (kind !== 'denied' && kind !== 'inauthentic' && kind !== 'corrupt') throw error;
  }
  return undefined;
}

const FILE_MODE = 0o600;
const NAME_CHARACTERS = 32;

/**
 * Slots of kind `recipient` that this user has made or opened on this machine, for each location of a store. Anyone can
 * make a store that opens with another user's public key, so a store that opens with a private key may be one that an
 * attacker put in place of the user's own. The secret of a slot is random and known only to those who can open it, so
 * remembering a keyed hash of it tells the two apart.
 * @see docs/decisions/0284
 */
class KnownSlots {
  readonly #directory: string | undefined;
  readonly #where: string;

  private constructor(directory: string | undefined, where: string) {
    this.#directory = directory;
    this.#where = where;
  }

  static async of(environment: Environment, location: Location): Promise<KnownSlots> {
    const where = await printLocation(location);
    const state = stateDirectory(environment);
    const name = hash('sha256', where).slice(0, NAME_CHARACTERS);
    return new KnownSlots(state && join(state, 'known-slots', name), where);
  }

  /** Whether any slot of a store at this location is known. */
  get isAny(): boolean {
    return this.#names().length > 0;
  }

  /** Whether a slot with this secret is known. */
  has(secret: Uint8Array): boolean {
    return this.#names().includes(this.#nameOf(secret));
  }

  /** Remembers the slot with this secret. Without a state directory, it stays unknown. */
  add(secret: Uint8Array): void {
    const directory = this.#directory;
    if (directory === undefined || this.has(secret)) return;

    // The home directory is not writable, or another command was faster.
    attempt(() => {
      makeOwnDirectory(directory);
      closeSync(openSync(join(directory, this.#nameOf(secret)), 'wx', FILE_MODE));
    });
  }

  #nameOf(secret: Uint8Array): string {
    const text = lengthPrefixed('coffer/1/known slot', this.#where);
    return createHmac('sha256', secret).update(text).digest('hex').slice(0, NAME_CHARACTERS);
  }

  #names(): readonly string[] {
    return attempt(() => readdirSync(this.#directory ?? '')) ?? [];
  }
}
