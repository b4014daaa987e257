import { basename } from 'node:path';
import { isRegularFile } from '../../ground/directories.ts';
import { invalid } from '../../ground/errors.ts';
import { isName } from '../../team/names.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Hint about an invalid name of a key of a keyring. */
export const KEY_NAMES =
  'use at most 64 letters, digits, "_" or "-"; it cannot begin with "-", or be reserved on Windows, such as "con"';

/** Hint about an invalid name of a member. */
export const MEMBER_NAMES =
  'use at most 32 lower-case letters, digits and dashes; the name cannot begin with a dash, or be reserved on Windows, such as "con"';

/** Beginning of a public key. */
const RECIPIENT = /^(?:age1|ssh-)\S+/;

/**
 * Checks the name of a new member.
 * @param given argument after it
 * @throws `invalid`, with the right order if a public key was given in its place
 */
export function requireMemberName(name: string, given: string | undefined): void {
  if (isName(name)) return;
  const isFile = isRegularFile(name);
  if (isFile || RECIPIENT.test(name)) {
    const ofFile = isFile ? basename(name).replace(/\.[^.]*$/, '') : '';
    const meant = [given, ofFile].find((text) => text !== undefined && isName(text)) ?? 'NAME';
    throw invalid('the name of the member comes before the public key', {
      field: 'NAME',
      hint: `run "coffer team add ${meant} ${shellWord(name)}"`,
    });
  }
  throw invalid(`invalid member name ${JSON.stringify(name)}`, {
    field: 'NAME',
    hint: MEMBER_NAMES,
  });
}

/**
 * Checks that a new member gets one key: the public key that is given, or a created one.
 * @throws `invalid`
 */
export function requireOneKey(given: string | undefined, isNew: boolean): void {
  if (isNew && given !== undefined)
    throw invalid('RECIPIENT cannot be used with --new', { hint: 'use only one of them' });
  if (!isNew && given === undefined)
    throw invalid('no key given for the new member', {
      field: 'RECIPIENT',
      hint: 'pass a public key, or use --new to create a key',
    });
}
