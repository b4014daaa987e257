import { createPrivateKey, type KeyObject } from 'node:crypto';
import { asCofferError, attempt, CofferError, invalid, unlessRefused } from '../../ground/errors.ts';
import { parseEncryptedSshKey, parseSshPrivateKey } from '../../signatures/ssh-private-key.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';

/**
 * Parses an SSH private key in any supported form, and asks for its passphrase.
 * @throws `invalid`, `sealed` or `unsupported`
 */
export async function sshPrivateKeyIn(session: Session, path: string, text: string): Promise<KeyObject> {
  try {
    const encrypted = parseEncryptedSshKey(text);
    if (encrypted === undefined) return parseSshPrivateKey(text) ?? (await pemKey(session, path, text));
    const passphrase = await passphraseFor(session, path);
    return (await encrypted.decrypt(passphrase)) ?? unreadable(path, 'check the passphrase');
  } catch (error) {
    const refusal = asCofferError(error);
    if (refusal?.kind !== 'unsupported' || refusal.hint === undefined) throw error;
    const hint = `${refusal.hint.replace(/\bKEY\b/, shellWord(path))}; then use COPY in its place`;
    throw new CofferError(refusal.kind, `${path}: ${refusal.message}`, { hint, cause: error });
  }
}

/**
 * Returns the public half of a private key with a passphrase; undefined if the text does not show it.
 * @param text content of its file
 */
export const publicHalfOfEncrypted = (text: string): KeyObject | undefined =>
  // Reading the key says why it cannot be used.
  unlessRefused(() => parseEncryptedSshKey(text)?.publicKey, undefined);

/**
 * Whether a private key asks for a passphrase.
 * @param text content of its file
 */
export const hasPassphrase = (text: string): boolean =>
  publicHalfOfEncrypted(text) !== undefined || ENCRYPTED_PEM.test(text);

const ENCRYPTED_PEM = /ENCRYPTED/;

async function passphraseFor(session: Session, path: string): Promise<string> {
  if (session.prompts.available()) return session.prompts.secret(`Passphrase for ${path}`);
  throw new CofferError('sealed', `${path} is encrypted: cannot prompt for its passphrase`);
}

async function pemKey(session: Session, path: string, pem: string): Promise<KeyObject> {
  const isEncrypted = ENCRYPTED_PEM.test(pem);
  const passphrase = isEncrypted ? await passphraseFor(session, path) : undefined;
  return (
    attempt(() => createPrivateKey({ key: pem, passphrase })) ??
    unreadable(path, isEncrypted ? 'check the passphrase' : 'check that the file is complete')
  );
}

function unreadable(path: string, hint: string): never {
  // Without an option: the file may be named by one, by a variable, or be at a usual place.
  throw invalid(`cannot read the private key in ${path}`, { hint });
}
