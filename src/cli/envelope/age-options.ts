import { invalid } from '../../ground/errors.ts';
import type { OptionSpec } from '../command.ts';
import { type Given, textsOption } from '../given.ts';
import { switching, takingFile } from '../parse/everywhere.ts';

/** Options for files in the age format. The code that uses them is loaded on demand. */

export const RECIPIENT = 'recipient';
export const IDENTITY = 'identity';
export const PASSPHRASE = 'passphrase';
export const PASSPHRASE_FILE = 'passphrase-file';
export const ARMOR = 'armor';

export const recipientOption: OptionSpec = {
  flag: RECIPIENT,
  takes: 'values',
  metavar: 'WHO',
  help: 'Who can open the file: age1…, a line of an SSH .pub file, @FILE with such lines, or the name of a key.',
  offers: 'key',
};

/** Options of commands that encrypt files for others. */
export const sendingOptions: readonly OptionSpec[] = [
  recipientOption,
  switching(PASSPHRASE, 'Write a file that a passphrase opens; asked for twice.'),
  takingFile(PASSPHRASE_FILE, 'File that holds that passphrase.'),
  switching(ARMOR, 'Write text in place of bytes; with --recipient or --passphrase.'),
];

/** Options of commands that open files of others. */
export const openingOptions: readonly OptionSpec[] = [
  {
    flag: IDENTITY,
    takes: 'values',
    metavar: 'FILE',
    help: 'Private keys that open a file of age: AGE-SECRET-KEY-… or an SSH key.',
    fallback: 'keys of the store',
    offers: 'file',
  },
  takingFile(PASSPHRASE_FILE, 'File that holds the passphrase of a file of age.'),
];

/**
 * Whether a file for others is requested.
 * @throws `invalid` if options cannot be combined
 */
export function isForOthers(options: Given['options'], name: string | undefined): boolean {
  const isRecipients = textsOption(options, RECIPIENT).length > 0;
  const isPassphrase = options.has(PASSPHRASE) || options.has(PASSPHRASE_FILE);
  if (!isRecipients && !isPassphrase) {
    if (options.has(ARMOR)) throw invalid('only a file for --recipient is text', { field: ARMOR });
    if (name !== undefined) return false;
    throw invalid('there is nobody who could open the file', {
      field: 'NAME',
      hint: 'name a key, or say --recipient WHO',
    });
  }
  if (isRecipients && isPassphrase) {
    throw invalid('a file that a passphrase opens has no other recipients', { field: RECIPIENT });
  }
  const misplaced = ['metadata', 'context', 'context-text'].find((flag) => options.has(flag));
  if (misplaced !== undefined) throw invalid('the age format has no place for it', { field: misplaced });
  if (name === undefined) return true;
  throw invalid('a file is either for a named key alone, or for recipients', {
    field: RECIPIENT,
    hint: `say --recipient ${name} as well as the others, and leave the name out`,
  });
}

/**
 * Refuses private keys for Coffer's own envelopes.
 * @throws `invalid` if one is given
 */
export function refuseIdentities(options: Given['options']): void {
  const given = [IDENTITY, PASSPHRASE_FILE].find((flag) => options.has(flag));
  if (given === undefined) return;
  throw invalid('it opens files in the age format, and this is none', {
    field: given,
    hint: 'an envelope is opened by its named key: leave the option out',
  });
}
