import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { invalid, refusedAs } from '../../ground/errors.ts';
import { sshBlob } from '../../signatures/ssh-key.ts';
import { unspelled } from '../../team/names.ts';
import type { OwnKey } from '../../team/own-key.ts';
import { isRecipient, sshLineOf } from '../../team/recipients.ts';
import { pluginIdentity, pluginOfIdentity } from '../../transit/envelope/age/plugin.ts';
import { ageIdentity, isOwnRecipient, recipientOfIdentity } from '../../transit/envelope/age/recipients.ts';
import { sshIdentity } from '../../transit/envelope/age/ssh.ts';
import { inputText } from '../files/input.ts';
import type { Session } from '../session.ts';
import { type NamedIdentities, usualPlaces } from './identity-places.ts';
import { pluginHost } from './plugins.ts';
import { readKeyFile } from './secret-sources.ts';
import { hasPassphrase, publicHalfOfEncrypted, sshPrivateKeyIn } from './ssh-private-keys.ts';

/** Private keys of a person, found at their usual places. */

export interface PersonalKey extends OwnKey {
  /** Source of the key in messages. */
  readonly where: string;
  /** Returns the private key, if it can sign; asks for its passphrase. */
  signer?(): Promise<KeyObject>;
}

export interface Identities {
  readonly keys: readonly PersonalKey[];
  /** Fact that the identity of a pipeline requires; a keyring without it is refused. */
  readonly atLeast: string | undefined;
}

/** Source of the usual places in messages. */
const FILE = 'COFFER_IDENTITY_FILE';
const AT_LEAST = /^# at least: (.*)$/m;

/**
 * Returns the keys that were named, and no others; by default those at the usual places: Coffer's own directory, and
 * those of ssh and sops.
 * @throws `invalid` if a named file has no identity
 */
export async function findIdentities(
  session: Session,
  { text, path, source }: NamedIdentities,
): Promise<Identities> {
  const { environment } = session;
  if (text !== undefined) return { keys: await keysIn(session, text, source), atLeast: atLeastIn(text) };
  if (path !== undefined) {
    const content = inputText(readKeyFile(path, source), source);
    return { keys: await keysIn(session, content, path), atLeast: atLeastIn(content) };
  }
  const found: PersonalKey[] = [];
  for (const place of usualPlaces(environment)) {
    const public_ = publicHalfBeside(place);
    if (public_ !== undefined) found.push(sshKeyLater(session, place, public_));
    // Another program may have a different file there.
    else if (existsSync(place)) found.push(...(await readableKeys(session, place).catch(refusedAs([]))));
  }
  return { keys: found, atLeast: undefined };
}

/** Whether the identity is that of a pipeline, which requires a state of the keyring: then nothing is remembered. */
export function isPinned({ text, path, source }: NamedIdentities): boolean {
  const content = text ?? (path === undefined ? '' : inputText(readKeyFile(path, source), source));
  return atLeastIn(content) !== undefined;
}

function atLeastIn(text: string): string | undefined {
  const told = AT_LEAST.exec(text)?.[1];
  if (told === undefined) return undefined;
  const id = unspelled(told);
  if (id !== undefined) return id;
  throw invalid('the line "# at least:" of this identity has no ID', {
    hint: 'copy the complete identity again',
  });
}

/**
 * Returns the public key next to an SSH private key, so that the passphrase of a key that is not needed is not asked
 * for.
 */
function publicHalfBeside(path: string): string | undefined {
  if (!existsSync(path) || !existsSync(`${path}.pub`)) return undefined;
  const line = readFileSync(`${path}.pub`, 'utf8')
    .trim()
    .split(/[ \t]+/)
    .slice(0, 2)
    .join(' ');
  return isRecipient(line) ? line : undefined;
}

function sshKeyLater(session: Session, path: string, recipient: string): PersonalKey {
  const text = (): string => inputText(readKeyFile(path, FILE), FILE);
  const read = () => sshPrivateKeyIn(session, path, text());
  return personal(recipient, path, read, () => hasPassphrase(text()));
}

/**
 * Returns an SSH key.
 * @param read reads the private key, and asks for its passphrase
 * @param asks whether that asks for a passphrase
 */
function personal(
  recipient: string,
  where: string,
  read: () => Promise<KeyObject>,
  asks: () => boolean,
): PersonalKey {
  let asked: Promise<KeyObject> | undefined;
  let isOpen = false;
  const key = async (): Promise<KeyObject> => {
    asked ??= read();
    const found = await asked;
    isOpen = true;
    return found;
  };
  const mine: PersonalKey = {
    recipient,
    where,
    isLocked: () => !isOpen && asks(),
    async identity() {
      const privateKey = await key();
      return sshIdentity(privateKey, sshBlob(createPublicKey(privateKey)));
    },
  };
  return recipient.startsWith('ssh-ed25519 ') ? { ...mine, signer: key } : mine;
}

const readableKeys = async (session: Session, path: string): Promise<readonly PersonalKey[]> =>
  keysIn(session, inputText(readKeyFile(path, FILE), FILE), path);

/**
 * Parses the private keys in a text.
 * @throws `invalid` if there is none
 */
async function keysIn(session: Session, text: string, where: string): Promise<readonly PersonalKey[]> {
  if (text.includes('-----BEGIN ')) {
    const pem = text.endsWith('\n') ? text : `${text}\n`;
    const public_ = publicHalfOfEncrypted(pem);
    const key = public_ ?? (await sshPrivateKeyIn(session, where, pem));
    const recipient = sshLineOf(key);
    if (isRecipient(recipient)) {
      const read = async () => (public_ === undefined ? key : sshPrivateKeyIn(session, where, pem));
      return [personal(recipient, where, read, () => public_ !== undefined)];
    }
  }
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const secrets = lines.filter((line) => /^AGE-(?:SECRET-KEY|PLUGIN)-/i.test(line));
  const isOnlyKeys = lines.every((line) => line === '' || line.startsWith('#') || secrets.includes(line));
  if (secrets.length > 0 && isOnlyKeys) {
    return secrets.map((secret) => {
      const plugin = pluginOfIdentity(secret);
      if (plugin === undefined) {
        return { recipient: recipientOfIdentity(secret), where, identity: async () => ageIdentity(secret) };
      }
      const identity = pluginIdentity(plugin, secret.toUpperCase(), pluginHost(session));
      const recipient = publicKeyBefore(lines, lines.indexOf(secret), plugin);
      return { recipient, plugin, where, identity: async () => identity };
    });
  }
  throw invalid(`no private key in ${where}`, {
    field: where,
    hint: 'expected AGE-SECRET-KEY- or AGE-PLUGIN- lines, or one SSH private key of type Ed25519 or RSA',
  });
}

/** Comment in which plugins write the public key of the identity after it. */
const PUBLIC_KEY = /^#\s*(?:public key|recipient)\s*:\s*(age1\S+)$/i;

/**
 * Returns the public key of a plugin's identity, which is only in a comment before it.
 * @param at index of the identity
 * @returns an empty text if there is none
 */
function publicKeyBefore(lines: readonly string[], at: number, plugin: string): string {
  for (const line of lines.slice(0, at).reverse()) {
    if (line !== '' && !line.startsWith('#')) break;
    const told = PUBLIC_KEY.exec(line)?.[1] ?? '';
    const isItsOwn = told.startsWith(`age1${plugin}1`) || isOwnRecipient(told);
    if (isItsOwn && isRecipient(told)) return told;
  }
  return '';
}
