import { isRegularFile } from '../../ground/directories.ts';
import { nameOf } from '../../secret-files/format.ts';
import { formatOf } from '../../secret-files/formats.ts';
import { stepsElsewhere } from '../../secret-files/names-elsewhere.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { NextWord } from './suggestion.ts';

/* Command lines of sops, age, gpg and pass: their words are those of the command that does the same here. */

/** What a command line of another program says. */
interface ForeignLine {
  /** Words that are neither options nor their values. */
  readonly words: readonly string[];
  readonly recipients: readonly string[];
  /** File of the result. */
  readonly out?: string | undefined;
  /** Place of one value, as sops writes it: `["db"]["password"]`. */
  readonly extract?: string | undefined;
  /** File with a private key. */
  readonly identity?: string | undefined;
  /** Whether the file itself is to be changed. */
  readonly inPlace: boolean;
  readonly passphrase: boolean;
}

type Valued = 'recipient' | 'recipients' | 'out' | 'extract' | 'identity' | 'other';

/** Options of other programs that take a value. */
const VALUED: ReadonlyMap<string, Valued> = new Map<string, Valued>([
  ...['age', 'r', 'recipient'].map((flag) => [flag, 'recipient'] as const),
  ...['R', 'recipients-file'].map((flag) => [flag, 'recipients'] as const),
  ...['o', 'output', 'out'].map((flag) => [flag, 'out'] as const),
  ...['identity', 'extract'].map((flag) => [flag, flag === 'extract' ? 'extract' : 'identity'] as const),
  ...[
    'pgp',
    'kms',
    'gcp-kms',
    'azure-kv',
    'hc-vault-transit',
    'input-type',
    'output-type',
    'filename-override',
  ].map((flag) => [flag, 'other'] as const),
]);
const PASSPHRASE: ReadonlySet<string> = new Set(['p', 'passphrase', 'symmetric']);

const OPTION = /^--?(?<name>[A-Za-z][\w-]*)(?:=(?<value>.*))?$/s;

/**
 * Reads the words of another program's command line.
 * @param words those after the command, or all if there is none
 */
function readForeign(words: readonly string[]): ForeignLine {
  const rest = [...words];
  const plain: string[] = [];
  const values: Record<Valued, string[]> = {
    recipient: [],
    recipients: [],
    out: [],
    extract: [],
    identity: [],
    other: [],
  };
  let inPlace = false;
  let passphrase = false;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const { name, value } = OPTION.exec(word)?.groups ?? {};
    if (name === undefined) plain.push(word);
    // With sops, -i changes the file; with age, a file with a private key follows, and then that to decrypt.
    const isIdentity = name === 'i' && rest.slice(0, 2).filter(isRegularFile).length === 2;
    const kind = isIdentity ? 'identity' : VALUED.get(name ?? '');
    if (kind !== undefined) values[kind].push(value ?? rest.shift() ?? '');
    inPlace ||= name === 'in-place' || (name === 'i' && !isIdentity);
    passphrase ||= PASSPHRASE.has(name ?? '');
  }
  const [[out], [extract], [identity]] = [values.out, values.extract, values.identity];
  const recipients = [
    ...values.recipient.flatMap((list) => list.split(',')),
    ...values.recipients.map((file) => `@${file}`),
  ].filter((text) => text !== '' && text !== '@');
  return { words: plain, recipients, out, extract, identity, inPlace, passphrase };
}

/** Returns the words after an unknown one, as far as suggestions depend on them. */
export function nextWord(argv: readonly string[], unknown = ''): NextWord {
  // Options of another program are no arguments of the command that does the same here.
  const [word, ...others] = readForeign(argv.slice(argv.indexOf(unknown) + 1)).words;
  const isFile = word !== undefined && isRegularFile(word);
  const file = isFile ? undefined : others.find(isRegularFile);
  return { word, isFile, file };
}

const ENVELOPE = ['transit', 'envelope'];

const quoted = (...words: readonly string[]): string => `"${['coffer', ...words].map(shellWord).join(' ')}"`;

const fileIn = ({ words }: ForeignLine): string | undefined => words.find(isRegularFile);

/** What a word or an option of another program does, by the path of the command here or none. */
const VERBS: ReadonlyMap<string, 'encrypt' | 'decrypt' | 'show'> = new Map([
  ...[
    'encrypt',
    '--e',
    '--encrypt',
    '--r',
    '--R',
    '--age',
    '--recipient',
    '--p',
    '--c',
    '--symmetric',
    '--passphrase',
  ].map((word) => [word, 'encrypt'] as const),
  ...['secrets encrypt', 'transit envelope encrypt'].flatMap((command) =>
    ['r', 'R', 'age', 'recipient'].map((flag) => [`${command} --${flag}`, 'encrypt'] as const),
  ),
  ...['decrypt', '--d', '--decrypt'].map((word) => [word, 'decrypt'] as const),
  ...['d', 'decrypt', 'extract'].map((flag) => [`secrets decrypt --${flag}`, 'decrypt'] as const),
  ...['cat', 'view', 'secrets cat', 'secrets view'].map((word) => [word, 'show'] as const),
]);

/**
 * Returns what to do instead of a command line of another program that names a file.
 * @param path of the command here, and the unknown word or option
 * @param words those behind them
 * @returns undefined if the words alone do not say it
 */
export function insteadOfForeign(path: readonly string[], words: readonly string[]): string | undefined {
  const line = readForeign(words);
  const run = running(path.join(' '), words);
  if (run !== undefined) return `did you mean ${quoted('exec', ...run)}?`;
  const verb = VERBS.get(path.join(' '));
  if (verb === 'encrypt') return encrypting(line, path.at(-1) ?? '');
  if (verb === 'decrypt') return decrypting(line, path);
  const file = verb === 'show' ? fileIn(line) : undefined;
  if (file === undefined) return path[0] === 'audit' ? showing(path.slice(1), words) : undefined;
  return formatOf(file) === undefined
    ? `did you mean ${quoted(...ENVELOPE, 'decrypt', '--in', file)}?`
    : `did you mean ${quoted('secrets', 'list', file)} or ${quoted('secrets', 'decrypt', file, '--stdout')}?`;
}

/** Returns the arguments of `exec` for `dotenvx run -f FILE -- PROGRAM` and `sops exec-env FILE COMMAND`. */
function running(word: string, words: readonly string[]): readonly string[] | undefined {
  if (word === 'run' && words.includes('--')) return words;
  const [file = '', command = '', ...more] = words;
  const isShell = word === 'exec-env' && command !== '' && more.length === 0;
  return isShell ? ['-f', file, '--', 'sh', '-c', command] : undefined;
}

function encrypting(line: ForeignLine, word: string): string | undefined {
  const { recipients, out } = line;
  const file = fileIn(line);
  const isPassphrase = line.passphrase || (word === '--c' && file !== undefined);
  if (file === undefined) return undefined;
  if (recipients.length === 0 && !isPassphrase)
    return word.startsWith('--e') && formatOf(file) === undefined
      ? `did you mean ${quoted(...ENVELOPE, 'encrypt', 'KEY', file)}?`
      : undefined;
  const whom = recipients.length > 0 ? ['--recipient', ...recipients] : ['--passphrase'];
  const to = out === undefined ? [] : ['--out', out];
  const command = quoted(...ENVELOPE, 'encrypt', ...whom, '--in', file, ...to);
  const isOfValues = recipients.length > 0 && formatOf(file) !== undefined;
  return isOfValues
    ? `use ${command} for the whole file; "coffer help sharing" says how others can read its values`
    : `did you mean ${command}?`;
}

function decrypting(line: ForeignLine, path: readonly string[]): string | undefined {
  const { extract, identity, out } = line;
  const file = fileIn({ ...line, words: line.words.filter((word) => word !== identity) });
  const to = out === undefined ? [] : ['--out', out];
  if (file === undefined) return undefined;
  const steps = stepsElsewhere(extract ?? '');
  if (steps !== undefined) return `use ${quoted('secrets', 'get', file, nameOf(steps), ...to)} for one value`;
  if (identity !== undefined)
    return `did you mean ${quoted(...ENVELOPE, 'decrypt', '--identity', identity, '--in', file, ...to)}?`;
  const shown = quoted('secrets', 'decrypt', file, '--stdout');
  if (path.length > 1) return `did you mean ${shown}?`;
  const whole = quoted(...ENVELOPE, 'decrypt', '--in', file, ...to);
  if (formatOf(file) === undefined) return `did you mean ${whole}?`;
  return `did you mean ${line.inPlace ? quoted('secrets', 'decrypt', file) : shown} or ${whole}?`;
}

/** Returns what to do instead of `coffer audit FILE`. */
function showing([file = '', ...more]: readonly string[], words: readonly string[]): string | undefined {
  if (more.length > 0 || !isRegularFile(file)) return undefined;
  return `did you mean ${quoted('audit', 'show', file, ...words)}?`;
}

/** Extensions of signatures, which gpg takes before the file, or alone. */
const SIGNATURE = /\.(?:sig|minisig|asc)$/;

/**
 * Puts the words that were typed in the place of the placeholders of a hint, where only one can be meant.
 * @param words those behind the command, or all if there is none
 * @param isNamed whether a word that is no file is a name
 */
export function withWords(hint: string, words: readonly string[], isNamed: boolean): string {
  const line = readForeign(words);
  const files = line.words.filter(isRegularFile);
  // A signature that is not there is no name either.
  const names = line.words.filter((word) => !isRegularFile(word) && !SIGNATURE.test(word));
  const [file] = files;
  // What brings something back does not take the file that was changed.
  const isOther = file === undefined || / restore FILE\b/.test(hint) || / set FILE NEW\b/.test(hint);
  const signed = files.map((path) => path.replace(SIGNATURE, '')).find(isRegularFile);
  const meant = hint.includes('coffer verify ') ? (signed ?? file) : file;
  const filled =
    isOther || (files.length > 1 && signed === undefined) ? hint : inCommands(hint, 'FILE', meant);
  const [name] = names;
  // A file that is not there is no name.
  const isName = isNamed && names.length === 1 && !/ import NAME\b/.test(hint);
  return isName ? inCommands(filled, 'NAME', name) : filled;
}

/** Replaces a placeholder in the commands of a hint. */
const inCommands = (hint: string, placeholder: string, word = placeholder): string =>
  hint.replace(/"coffer [^"]+"/g, (command) =>
    command.replace(/[^ "]+/g, (written) => (written === placeholder ? shellWord(word) : written)),
  );

/** Forms of recipients, which none names a key by. */
const RECIPIENT = /^(?:age1[a-z0-9]|ssh-(?:ed25519|rsa) )/i;

/**
 * Returns the hint for a recipient in the place of a key.
 * @param isOfValues whether single values of a file were to be encrypted
 * @returns undefined for any other name
 */
export function insteadOfRecipient(name: string, file: string, isOfValues: boolean): string | undefined {
  if (!RECIPIENT.test(name)) return undefined;
  const command = quoted(...ENVELOPE, 'encrypt', '--recipient', name, '--in', file);
  return isOfValues
    ? `a recipient is not a key: use ${command} for the whole file; "coffer help sharing" says how others can read its values`
    : `a recipient is not a key: run ${command}`;
}
