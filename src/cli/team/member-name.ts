import { basename } from 'node:path';
import { isRegularFile } from '../../ground/directories.ts';
import { invalid } from '../../ground/errors.ts';
import { isName } from '../../team/names.ts';
import { shellWord } from '../terminal/shell-word.ts';

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
    hint: 'use lower-case letters, digits and dashes',
  });
}
