import { dirname, relative, resolve, sep } from 'node:path';
import { asCofferError, withOtherHint } from '../../ground/errors.ts';
import { RULES_NAME } from '../../secret-files/rules.ts';
import type { KeyReference } from '../../transit/envelope/ports.ts';
import type { Session } from '../session.ts';
import { keyringAbove } from '../team/place.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { Rulebook } from './rulebook.ts';

/** Name of the first key in advice, as in the examples of help. */
const FIRST_KEY = 'app';

/**
 * Returns the key to encrypt the values of a file with.
 * @throws as `keyOf`; on a terminal, with the names of the keys that there are, or the commands that create the first
 * one and a rule
 */
export async function keyOrAdvice(
  session: Session,
  path: string,
  keyOf: () => KeyReference,
): Promise<KeyReference> {
  try {
    return keyOf();
  } catch (error) {
    const known = asCofferError(error);
    // A keyring has keys of its own.
    const isStore = keyringAbove('.', () => false) === undefined;
    const names = known && isStore ? await (await import('../candidates.ts')).keysText(session) : undefined;
    if (known === undefined || names === undefined) throw error;
    throw withOtherHint(known, names === '' ? firstSteps(session, path) : `${names}; ${known.hint}`);
  }
}

/**
 * Returns the advice for a user without a key. A rule is suggested if rules in the working directory can name the file,
 * and take nothing from the rules of a parent directory.
 */
function firstSteps(session: Session, path: string): string {
  const create = withPlace(session, `coffer transit keys create ${FIRST_KEY}`);
  const start = `no key can encrypt values yet: run "${create}"`;
  const name = relative('.', path).split(sep).join('/');
  const rules = new Rulebook(session.quietly()).sourceOf(dirname(resolve(path)));
  const canBeNamed = /^[\w./-]+$/.test(name) && !name.startsWith('..');
  if (!canBeNamed || (rules !== undefined && rules.directory !== resolve('.'))) {
    const encrypt = withPlace(session, `coffer secrets encrypt ${shellWord(path)} --key ${FIRST_KEY}`);
    return `${start}, then "${encrypt}"`;
  }
  const rule = String.raw`  - files: ${name}\n    key: ${FIRST_KEY}\n`;
  const write =
    rules === undefined
      ? String.raw`printf 'rules:\n${rule}' > ${RULES_NAME}`
      : `printf '${rule}' >> ${RULES_NAME}`;
  return `${start} and, for a rule in ${RULES_NAME}, "${write}", then retry`;
}

const withPlace = (session: Session, command: string): string =>
  [command, ...session.placeOptions()].join(' ');
