import { createPrivateKey, type KeyObject } from 'node:crypto';
import { asCofferError, CofferError, invalid } from '../../ground/errors.ts';
import { parseSshPrivateKey } from '../../signatures/ssh-private-key.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';

/**
 * Parses an SSH private key in any supported form, and asks for its passphrase.
 * @throws `invalid`, `sealed` or `unsupported`
 */
export async function sshPrivateKeyIn(session: Session, path: string, text: string): Promise<KeyObject> {
  try {
    return parseSshPrivateKey(text) ?? (await pemKey(session, path, text));
  } catch (error) {
    const refusal = asCofferError(error);
    if (refusal?.kind !== 'unsupported' || refusal.hint === undefined) throw error;
    const hint = `${refusal.hint.replace(/\bKEY\b/, shellWord(path))}; then use COPY in its place`;
    throw new CofferError(refusal.kind, `${path}: ${refusal.message}`, { hint, cause: error });
  }
}

async function pemKey(session: Session, path: string, pem: string): Promise<KeyObject> {
  const isEncrypted = /ENCRYPTED/.test(pem);
  if (isEncrypted && !session.prompts.available()) {
    throw new CofferError('sealed', `${path} is encrypted: cannot prompt for its passphrase`, {
      field: '--identity',
    });
  }
  const passphrase = isEncrypted ? await session.prompts.secret(`Passphrase for ${path}`) : undefined;
  try {
    return createPrivateKey({ key: pem, passphrase });
  } catch {
    throw invalid(`cannot read the private key in ${path}`, {
      field: '--identity',
      hint: isEncrypted ? 'check the passphrase' : 'check that the file is complete',
    });
  }
}
