import { asCofferError, CofferError, invalid } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import { recipientVersions } from '../../operations/age-keys.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { parseSshLine, sshBlob } from '../../signatures/ssh-key.ts';
import { requireTogether } from '../../transit/envelope/age/file.ts';
import { passphraseRecipient } from '../../transit/envelope/age/passphrase.ts';
import { ageRecipient, type Recipient } from '../../transit/envelope/age/recipients.ts';
import { sshRecipient } from '../../transit/envelope/age/ssh.ts';
import { readFileWhole } from '../files/in-file.ts';
import { inputText } from '../files/input.ts';
import { type Given, textOption, textsOption } from '../given.ts';
import { passphraseIn } from '../secrets/secret-sources.ts';
import type { Session } from '../session.ts';
import { PASSPHRASE_FILE, RECIPIENT } from './age-options.ts';

/** Maximum size of a file of recipients, in bytes, as in age. */
const MAX_FILE_BYTES = 16 * 2 ** 20;

/**
 * Returns the recipients of `--recipient`, or the passphrase instead of them.
 * @throws `invalid`, `not-found`, `unsupported` or `sealed`
 */
export async function recipientsOf(
  session: Session,
  options: Given['options'],
): Promise<readonly Recipient[]> {
  const words = textsOption(options, RECIPIENT);
  if (words.length === 0) {
    return [passphraseRecipient(await newFilePassphrase(session, options), systemRandom)];
  }
  const lists: (readonly Recipient[])[] = [];
  for (const word of words) lists.push(await recipientsFrom(session, word));
  const found = lists.flat();
  requireTogether(found);
  return found;
}

async function recipientsFrom(session: Session, word: string): Promise<readonly Recipient[]> {
  if (word.startsWith('@')) return fileRecipients(word.slice(1));
  const recipient = textRecipient(word);
  if (recipient !== undefined) return [recipient];
  return [ageRecipient(await latestRecipient(await session.runner(), word, session.settings.mount))];
}

/**
 * Parses a recipient.
 * @returns undefined if it can only be the name of a key
 */
function textRecipient(text: string): Recipient | undefined {
  if (/^AGE-SECRET-KEY-/i.test(text)) {
    throw invalid('this is a private key, not a recipient', {
      field: RECIPIENT,
      hint: 'use its public key, age1…',
    });
  }
  if (/^age1/i.test(text)) return ageRecipient(text);
  const ssh = parseSshLine(text);
  return ssh && sshRecipient(ssh.key, sshBlob(ssh.key));
}

/** Parses a file of recipients as age does: one per line, with blank lines and `#` comments. */
function fileRecipients(path: string): readonly Recipient[] {
  const text = inputText(readFileWhole(path, RECIPIENT, MAX_FILE_BYTES), RECIPIENT);
  const found = text.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return [];
    try {
      const recipient = textRecipient(line.trim());
      if (recipient !== undefined) return [recipient];
    } catch (error) {
      const known = asCofferError(error);
      if (known === undefined) throw error;
      const hint = known.hint === undefined ? {} : { hint: known.hint };
      throw new CofferError(known.kind, `${path}:${index + 1}: ${known.message}`, {
        field: RECIPIENT,
        ...hint,
      });
    }
    throw invalid(`${path}:${index + 1}: not a recipient`, {
      field: RECIPIENT,
      hint: 'each line is an age1…, or an SSH public key',
    });
  });
  if (found.length > 0) return found;
  throw invalid(`no recipient in ${path}`, { field: RECIPIENT });
}

async function latestRecipient(runner: Runner, name: string, mount: string): Promise<string> {
  const latest = (await recipientVersions(runner, name, mount)).at(-1);
  if (latest !== undefined) return latest.recipient;
  throw notForOthers(name);
}

/** Returns the error for a key that cannot be a recipient. */
export const notForOthers = (name: string): CofferError =>
  new CofferError('unsupported', `key "${name}" cannot be a recipient: wrong key type`, {
    field: RECIPIENT,
    hint: 'use a key type that age can encrypt to, see "coffer transit keys create --help"',
  });

async function newFilePassphrase(session: Session, options: Given['options']): Promise<string | Uint8Array> {
  const file = textOption(options, PASSPHRASE_FILE);
  if (file !== undefined) return passphraseIn(file, `--${PASSPHRASE_FILE}`);
  if (session.prompts.available()) {
    return session.prompts.newSecret('Passphrase of the file', async () =>
      (await import('../secrets/passphrases.ts')).freshPassphrase(systemRandom),
    );
  }
  throw new CofferError('sealed', 'cannot prompt for the passphrase of the file', {
    hint: `use --${PASSPHRASE_FILE}`,
  });
}
