import { isRegularFile } from '../../ground/directories.ts';
import { asCofferError, attempt, CofferError, throwing } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import { recipientKey } from '../../operations/age-keys.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { requireTogether } from '../../transit/envelope/age/file.ts';
import { passphraseRecipient } from '../../transit/envelope/age/passphrase.ts';
import { type AnyRecipient, ageRecipient } from '../../transit/envelope/age/recipients.ts';
import { type Given, textOption, textsOption } from '../given.ts';
import { fileRecipients, textRecipient } from '../secrets/recipients.ts';
import { passphraseIn } from '../secrets/secret-sources.ts';
import type { Session } from '../session.ts';
import { PASSPHRASE_FILE, RECIPIENT } from './age-options.ts';

/**
 * Returns the recipients of `--recipient`, or the passphrase instead of them.
 * @throws `invalid`, `not-found`, `unsupported` or `sealed`
 */
export async function recipientsOf(
  session: Session,
  options: Given['options'],
): Promise<readonly AnyRecipient[]> {
  const words = textsOption(options, RECIPIENT);
  if (words.length === 0) {
    return [passphraseRecipient(await newFilePassphrase(session, options), systemRandom)];
  }
  const lists: (readonly AnyRecipient[])[] = [];
  for (const word of words) lists.push(await recipientsFrom(session, word));
  const found = lists.flat();
  requireTogether(found);
  return found;
}

async function recipientsFrom(session: Session, word: string): Promise<readonly AnyRecipient[]> {
  if (word.startsWith('@')) return fileRecipients(session, word.slice(1)).map(({ recipient }) => recipient);
  const named = textRecipient(session, word);
  if (named !== undefined) return [named.recipient];
  const runner = await session.runner();
  const latest = await latestRecipient(runner, word, session.settings.mount).catch(
    throwing((error) => misnamed(session, word, error)),
  );
  return [ageRecipient(latest)];
}

/** Returns the error for a word that is no key of the store: it may be a file, or of no form that recipients have. */
function misnamed(session: Session, word: string, error: unknown): unknown {
  const known = asCofferError(error);
  if (known?.kind !== 'not-found' && known?.kind !== 'invalid') return error;
  const isFile = isRegularFile(word);
  if (known.kind === 'not-found' && !isFile) return error;
  const hasRecipients = isFile && attempt(() => fileRecipients(session, word)) !== undefined;
  const message = isFile ? `no key ${JSON.stringify(word)}` : `not a recipient: ${JSON.stringify(word)}`;
  const more = isFile ? ', and the file of that name has no recipients' : '';
  return new CofferError(known.kind, hasRecipients ? message : `${message}${more}`, {
    field: RECIPIENT,
    hint: hasRecipients
      ? `for the recipients in the file, use @${word}`
      : 'use age1…, an SSH public key, @FILE, or the name of a key',
    cause: error,
  });
}

async function latestRecipient(runner: Runner, name: string, mount: string): Promise<string> {
  const { type, versions } = await recipientKey(runner, name, mount);
  const latest = versions.at(-1);
  if (latest !== undefined) return latest.recipient;
  throw new CofferError('unsupported', `key "${name}" cannot be a recipient: ${typeText(type)}`, {
    field: RECIPIENT,
    hint: 'create one with "coffer transit keys create NAME --type x25519"',
  });
}

/** Says that a key type is wrong, and which one it is if that is known. */
export const typeText = (type: string | undefined): string =>
  type === undefined ? 'wrong key type' : `its type is ${type}`;

async function newFilePassphrase(session: Session, options: Given['options']): Promise<string | Uint8Array> {
  const file = textOption(options, PASSPHRASE_FILE);
  if (file !== undefined) return passphraseIn(file, `--${PASSPHRASE_FILE}`);
  if (session.prompts.available()) {
    return session.prompts.newSecret('Passphrase for the encrypted file', async () =>
      (await import('../secrets/passphrases.ts')).freshPassphrase(systemRandom),
    );
  }
  throw new CofferError('sealed', 'cannot prompt for the passphrase of the file', {
    hint: `use --${PASSPHRASE_FILE}`,
  });
}
