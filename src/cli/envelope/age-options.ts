import { invalid } from '../../ground/errors.ts';
import { type OptionSpec, switching, taking, takingFile } from '../command.ts';
import { type Given, textsOption } from '../given.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Options for files in the age format. The code that uses them is loaded on demand. */

export const RECIPIENT = 'recipient';
export const IDENTITY = 'identity';
const PASSPHRASE = 'passphrase';
export const PASSPHRASE_FILE = 'passphrase-file';
export const ARMOR = 'armor';

export const recipientOption = taking(
  RECIPIENT,
  'WHO',
  'Encrypt for this recipient, in the age format: age1…, an SSH public key, the name of a key, or @FILE with one per line. Can be repeated.',
  { takes: 'values', offers: 'key' },
);

/** Options of commands that encrypt files for others. */
export const sendingOptions: readonly OptionSpec[] = [
  recipientOption,
  switching(PASSPHRASE, 'Encrypt with a passphrase; prompts for it.'),
  takingFile(PASSPHRASE_FILE, 'Read the passphrase from FILE.'),
  switching(ARMOR, 'Write ASCII armor; only with --recipient or --passphrase.'),
];

/** Options of commands that open files of others. */
export const openingOptions: readonly OptionSpec[] = [
  takingFile(
    IDENTITY,
    'Private key for age files, in FILE: AGE-SECRET-KEY-… or an SSH key. Can be repeated.',
    { takes: 'values', fallback: 'keys of the store' },
  ),
  takingFile(PASSPHRASE_FILE, 'Read the passphrase of an age file from FILE.'),
];

/** Whether recipients or a passphrase are named, which take the place of a key. */
export const needsNoKey = (options: Given['options']): boolean =>
  textsOption(options, RECIPIENT).length > 0 || namesPassphrase(options);

const namesPassphrase = (options: Given['options']): boolean =>
  options.has(PASSPHRASE) || options.has(PASSPHRASE_FILE);

/**
 * Whether a file for others is requested.
 * @throws `invalid` if options cannot be combined
 */
export function isForOthers(options: Given['options'], name: string | undefined): boolean {
  const isRecipients = textsOption(options, RECIPIENT).length > 0;
  const isPassphrase = namesPassphrase(options);
  if (!isRecipients && !isPassphrase) {
    if (options.has(ARMOR)) throw invalid('--armor needs --recipient or --passphrase', { field: ARMOR });
    if (name !== undefined) return false;
    const taken = textsOption(options, 'metadata').slice(1);
    const more =
      taken.length === 0
        ? ''
        : `; --metadata took ${taken.map((word) => `"${word}"`).join(' and ')} as well: put a key first`;
    throw invalid('no recipient given', { field: 'NAME', hint: `name a key, or use --recipient${more}` });
  }
  if (isRecipients && isPassphrase) {
    throw invalid('--passphrase cannot be combined with recipients', { field: RECIPIENT });
  }
  const misplaced = ['metadata', 'context', 'context-text'].find((flag) => options.has(flag));
  if (misplaced !== undefined) {
    throw invalid(`files in the age format have no ${misplaced === 'metadata' ? misplaced : 'context'}`, {
      field: misplaced,
      hint: `omit --${misplaced}, or encrypt with a key NAME`,
    });
  }
  if (name === undefined) return true;
  throw invalid('NAME cannot be used with --recipient', {
    field: RECIPIENT,
    hint: `omit ${shellWord(name)}, or omit --recipient; if the type of the key is x25519, it can be given as --recipient ${shellWord(name)}`,
  });
}

/**
 * Refuses private keys for Coffer's own envelopes.
 * @throws `invalid` if one is given
 */
export function refuseIdentities(options: Given['options']): void {
  const given = [IDENTITY, PASSPHRASE_FILE].find((flag) => options.has(flag));
  if (given === undefined) return;
  throw invalid(`--${given} is only for age files, and the input is not an age file`, {
    field: given,
    hint: 'omit the option: a Coffer envelope names the key that decrypts it',
  });
}
