import { CAPABILITY_WORDS } from '../access/capability.ts';
import { RULE_MEMBERS } from '../access/policy.ts';
import { CofferError } from '../ground/errors.ts';
import { meantText, nearest } from '../ground/nearness.ts';
import { OF_WILDCARDS } from './api-wordings.ts';

/*
 * Errors about the text of a policy, with what to write instead. Clients of Vault compare the texts of the API, which
 * stay to the letter.
 */

const BEGINNING = 'failed to parse policy: ';

/** Whether an error is about the text of a policy. */
export const isPolicyMistake = ({ message }: CofferError): boolean => message.startsWith(BEGINNING);

const UNKNOWN_KEY = /^(path "[^"]*": )?invalid key "([^"]*)"/;
const UNKNOWN_CAPABILITY = /invalid capability "([^"]*)"/;
const OPEN_COMMENT = 'comment not terminated';
/** Characters of paths that no word without quotes has. */
const SINGLE_QUOTE = `unexpected character "'"`;
const IN_PATH = /unexpected character "(?:[/*+]|\\")/;
const NO_TEXT = 'expected a quoted string, ';
const FOUND_WORD = /found "(\w{1,40})"$/;

/** Words at the beginning of a rule, outside of any path. */
const TOP_WORDS = ['path', 'name'];

/** What others call the capabilities that an operation requires. */
const MEANT: Readonly<Record<string, string>> = {
  write: '"create" and "update"',
  encrypt: '"update"',
  decrypt: '"update"',
  sign: '"update"',
  verify: '"update"',
  all: '"create", "read", "update", "delete" and "list"',
  '*': '"create", "read", "update", "delete" and "list"',
};

const EXAMPLE = 'e.g. path "transit/encrypt/orders" { capabilities = ["update"] }';
const HELP = 'see "coffer help policy-format"';
/** Mistakes of a policy whose form is right. */
const OF_MEANING = / is not supported here$| is given twice| is given a second time | cannot be less than /;

/** Returns the error with what was probably meant, and with an example. */
export function aboutPolicy(error: CofferError): CofferError {
  const { kind, field, hint } = error;
  const text = error.message.slice(BEGINNING.length);
  const example = OF_MEANING.test(text) ? undefined : EXAMPLE;
  const parts = [meantIn(text), hint, example, HELP].filter((part) => part !== undefined);
  return new CofferError(
    kind,
    error.message
      .replace(OPEN_COMMENT, 'a comment begins with "/*" and does not end')
      .replace(OF_WILDCARDS[0], OF_WILDCARDS[1]),
    {
      field,
      hint: parts.join('; ').replaceAll('?;', '?'),
      cause: error,
    },
  );
}

function meantIn(text: string): string | undefined {
  if (text.includes(OPEN_COMMENT)) return 'put paths in double quotes, or end the comment with "*/"';
  if (text.includes(SINGLE_QUOTE)) return 'use double quotes instead of single ones';
  if (IN_PATH.test(text)) return 'put paths in double quotes';
  const [, word] = (text.includes(NO_TEXT) && FOUND_WORD.exec(text)) || [];
  if (word !== undefined) return `put words in double quotes: "${word}"`;
  const [, capability] = UNKNOWN_CAPABILITY.exec(text) ?? [];
  if (capability !== undefined) return didYouMean(capability, CAPABILITY_WORDS);
  const [, path, key] = UNKNOWN_KEY.exec(text) ?? [];
  if (key === undefined) return undefined;
  if (path === undefined && RULE_MEMBERS.has(key)) return `write ${key} inside the braces that follow a path`;
  return didYouMean(key, path === undefined ? TOP_WORDS : [...RULE_MEMBERS]);
}

/** Returns the question for the word that was probably meant; undefined if none is near. */
function didYouMean(word: string, known: readonly string[]): string | undefined {
  const other = Object.hasOwn(MEANT, word.toLowerCase()) ? MEANT[word.toLowerCase()] : undefined;
  if (other !== undefined && known === CAPABILITY_WORDS) return `${word} is not a capability: use ${other}`;
  const near = nearest(word, known);
  return near.length === 0 ? undefined : meantText(near);
}
