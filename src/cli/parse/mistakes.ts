import { isRegularFile } from '../../ground/directories.ts';
import { CofferError, invalid } from '../../ground/errors.ts';
import { mayHavePassword } from '../../store/backends/unknown-scheme.ts';
import { KEY_NAME } from '../../transit/key-document.ts';
import type { Command, CommandSpec, Invocation, OptionSpec } from '../command.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { everywhereBeside, mayTakeAnswer } from './everywhere.ts';
import { CIPHERTEXT, IN } from './operation-spec.ts';
import { signingInstead, verifyingInstead } from './signing-habits.ts';
import { SELF } from './vault-options.ts';

/** Width of the widest example that a narrow terminal, of 60 columns, shows in one line, with quotation marks. */
const MOST_WIDE = 57;

/**
 * Formats the words of a command and its arguments, with its plainest example: one with arguments alone, or at the end
 * of a pipe that the command reads a value from; if possible, one that a narrow terminal does not break.
 */
export function usageOf(path: readonly string[], command: CommandSpec): string {
  const words = command.arguments.map(({ metavar, required, many }) => {
    const name = many ? `${metavar}...` : metavar;
    return required ? name : `[${name}]`;
  });
  const usage = ['coffer', ...path, ...words].join(' ');
  const beginning = ['coffer', ...path, ''].join(' ');
  const examples = command.examples.map(([line]) => line).filter((line) => !/[\n"]/.test(line));
  const isPlain = (line: string): boolean => !/ --| \| (?!coffer)/.test(line);
  const suitable = [
    ...examples.filter((line) => line.startsWith(beginning) && isPlain(line)),
    ...examples.filter((line) => line.includes(` | ${beginning}`) && isPlain(line) && !line.endsWith(' -')),
    ...examples.filter((line) => line.startsWith(beginning) && !line.includes(' | ')),
    ...examples.filter((line) => line.includes(`(${beginning}`)),
    ...examples.filter((line) => line.startsWith(beginning)),
  ];
  const example = suitable.find(({ length }) => length <= MOST_WIDE) ?? suitable[0];
  return example === undefined ? usage : `${usage}, e.g. "${example}"`;
}

/**
 * Returns the example of a command that reads standard input in the place of a file, without the command before the
 * pipe.
 */
export function pipedExample(path: readonly string[], { examples }: CommandSpec): string | undefined {
  const piped = ` | ${['coffer', ...path, '-'].join(' ')}`;
  const line = examples.map(([command]) => command).find((command) => `${command} `.includes(`${piped} `));
  return line?.slice(line.indexOf(piped) + ' | '.length).split(' > ', 1)[0];
}

/** Returns the start of the hint for a command that lists something else in Vault. */
export const meantInVault = (path: readonly string[]): string =>
  path.join(' ') === 'secrets list'
    ? 'for the mounts that "vault secrets list" shows, use "coffer mounts list"; '
    : '';

/** Returns the hint for the key of a command in the form of an option, with its name in the place where it belongs. */
export function keyComesFirst(argv: readonly string[], usage: string): string {
  const at = argv.findIndex((word) => /^--key(?:=|$)/.test(word));
  const key = argv[at]?.includes('=') ? argv[at].slice('--key='.length) : (argv[at + 1] ?? '');
  const said = 'the key is the first argument; usage: ';
  return said + (KEY_NAME.test(key) ? usage.replace('NAME', shellWord(key)) : usage);
}

/** Messages about a value that is missing. */
const MISSING = /^missing /;

/**
 * Words the error about an argument that only some callers may omit as that about any missing argument.
 * @returns the error itself if it is about something else
 */
export function asMissingArgument(error: CofferError, { path, command, given }: Invocation): CofferError {
  const { kind, field, message } = error;
  if (kind !== 'invalid' || field === undefined || !MISSING.test(message)) return error;
  // The user has left the argument out on purpose.
  if (given.options.has(SELF)) return error;
  const label = command.labelOf?.(field);
  const at = command.arguments.findIndex(({ metavar }) => metavar === label);
  const argument = command.arguments[at];
  if (argument === undefined || given.arguments[at] !== undefined) return error;
  const needed = command.arguments.map((spec, index) => (index <= at ? { ...spec, required: true } : spec));
  const words = argument.choices === undefined ? '' : `use one of ${argument.choices.join(', ')}; `;
  return new CofferError(kind, `missing required argument '${label}'`, {
    hint: `${words}usage: ${usageOf(path, { ...command, arguments: needed })}; see "${['coffer', ...path, '--help'].join(' ')}"`,
    cause: error,
  });
}

/* What is meant by words too many on a command line. */

/** Signature or HMAC of a named key, with any prefix. */
const SIGNATURE = /^[a-z][\w-]*:v\d+:[\w+/=-]+$/;

/** Command group for files that name their key; these commands take one file as an argument. */
const ENVELOPE = 'transit envelope';

/** Command of Vault's API whose path has the type of what is exported before the key. */
const EXPORT = 'transit keys export';
const OF_EXPORT = /^(?:(?:encryption|signing|hmac|public)-key|certificate-chain)$/;

/** Command line with too many words, or too few. */
interface Excess {
  readonly argv: readonly string[];
  readonly path: readonly string[];
  readonly command: Command | undefined;
  /** Words after the command; if there are too few, those that were recognised. */
  readonly words: readonly string[];
  /** Reference to the help. */
  readonly help: string;
}

/** Returns the error for too many words, with what was probably meant by them. */
export function tooManyWords(message: string, { argv, path, command, words, help }: Excess): CofferError {
  const answered = answeredSwitch(argv, command, help);
  if (answered !== undefined) return answered;
  if (words.some(mayHavePassword)) return unrepeated(message, command, help);
  const [type = '', name = ''] = words;
  const [file = ''] = words.map(shellWord);
  if (path.join(' ') === 'doctor' && file !== '')
    return invalid(message, {
      hint: `to check a backup, run "coffer store verify ${file}"; ${help}`,
    });
  if (path.join(' ') === EXPORT && words.length === 2 && OF_EXPORT.test(type)) {
    return invalid(message, {
      hint: `run "coffer transit keys export ${shellWord(name)} --key-type ${type}"`,
    });
  }
  if (path.at(-1) === 'list' && command?.arguments.length === 0 && words.length === 1)
    return invalid(message, {
      hint: `to filter the list, use "${['coffer', ...path].join(' ')} | grep ${shellWord(type.replace(/[*?]+/g, ''))}"; ${help}`,
    });
  // With a public key behind the signature.
  const verifying = path.join(' ') === 'verify' && words.length === 3 ? verifyingInstead(words) : undefined;
  if (verifying !== undefined) return invalid(message, { hint: `run ${verifying}` });
  const ofEnvelope = wordsOfEnvelope(path, words);
  if (ofEnvelope !== undefined) return invalid(message, { hint: ofEnvelope });
  const ofSignature = withSignature(path, words);
  if (ofSignature !== undefined && command?.options.some(({ flag }) => flag === 'signature'))
    return invalid(message, { hint: `run ${ofSignature}` });
  const takesFiles = command?.options.some(({ flag }) => flag === IN) === true;
  const takesValue = command?.arguments.some(({ metavar }) => metavar === 'VALUE') === true;
  const advice = takesValue ? 'quote a value that has spaces; ' : takesFiles ? 'name a file with --in; ' : '';
  return invalid(message, { hint: advice + help });
}

/** Returns the error for words that may have a password, such as the address of a database: it repeats none of them. */
function unrepeated(message: string, command: Command | undefined, help: string): CofferError {
  const isLocation = command?.arguments.length === 0;
  const advice = isLocation ? 'the location of a store belongs in --store or COFFER_STORE; ' : '';
  return invalid(message.replace(/(but got \d+): .*/s, '$1'), { hint: advice + help });
}

/** Returns the command for a key, a value and a signature, in any order; for files, that which verifies files. */
function withSignature(path: readonly string[], words: readonly string[]): string | undefined {
  if (words.length !== 3) return undefined;
  const signature = words.find((word) => SIGNATURE.test(word));
  if (signature === undefined) return words.some(isRegularFile) ? verifyingInstead(words) : undefined;
  const others = signature === words[0] ? ['NAME', 'VALUE'] : words.filter((word) => word !== signature);
  return `"${['coffer', ...path, ...others, '--signature', signature].map(shellWord).join(' ')}"`;
}

/** Returns the hint for too many words after a command for an encrypted file: its key, or further files. */
function wordsOfEnvelope(path: readonly string[], words: readonly string[]): string | undefined {
  if (path.slice(0, -1).join(' ') !== ENVELOPE) return undefined;
  const call = ['coffer', ...path].join(' ');
  const [key = '', ...files] = words;
  const [text = ''] = files;
  if (words.length === 2 && CIPHERTEXT.test(text) && path.at(-1) === 'decrypt')
    return `to decrypt a ciphertext, run "coffer transit decrypt ${shellWord(key)} ${shellWord(text)}"`;
  if (words.every(isRegularFile)) return `run "${call} --in ${words.map(shellWord).join(' ')}"`;
  if (!files.every(isRegularFile)) return undefined;
  const named = files.length === 1 ? 'the file names it' : 'the files name it';
  return `leave out the key, ${named}: "${call} --in ${files.map(shellWord).join(' ')}"`;
}

/** Returns the error for a switch that is followed by a value, as in Vault's API: `--deletion-allowed true`. */
function answeredSwitch(
  argv: readonly string[],
  command: Command | undefined,
  help: string,
): CofferError | undefined {
  const options = command === undefined ? [] : [...command.options, ...everywhereBeside(command.options)];
  const isSwitch = (name: string): boolean =>
    options.some(({ flag, takes }) => flag === name && takes === 'nothing');
  for (const [at, word] of argv.entries()) {
    const [, flag = ''] = /^--?([a-z][a-z_-]+)$/.exec(word)?.map((part) => part.replaceAll('_', '-')) ?? [];
    const value = argv[at + 1] ?? '';
    if (!isSwitch(flag) || !/^(?:true|false)$/i.test(value)) continue;
    const opposite = `no-${flag}`;
    const instead = isSwitch(opposite) ? `use --${opposite}` : `leave out "--${flag} ${value}"`;
    const advice = value.toLowerCase() === 'true' ? `leave out "${value}"` : instead;
    return invalid(`--${flag} takes no value`, { hint: `${advice}; ${help}` });
  }
  return undefined;
}

/**
 * Returns an invocation, unless a command for several names took the value of a switch for one of them.
 * @throws `invalid` in that case
 */
export function withoutAnsweredSwitch(argv: readonly string[], invocation: Invocation): Invocation {
  const { path, command, given } = invocation;
  if (!mayTakeAnswer(command, given.arguments)) return invocation;
  const end = argv.indexOf('--');
  const options = end === -1 ? argv : argv.slice(0, end);
  const answered = answeredSwitch(options, command, `see "${['coffer', ...path, '--help'].join(' ')}"`);
  if (answered !== undefined) throw answered;
  return invocation;
}

/** Command line that lacks an argument. */
interface Lacking extends Omit<Excess, 'command'> {
  readonly command: CommandSpec;
}

/**
 * Returns the error for arguments that an option which takes several values took as well, with the command in which
 * they come first.
 * @returns undefined if no such option has more values than the one that it needs
 */
export function swallowedBy(message: string, lacking: Lacking): CofferError | undefined {
  const { argv, path, command, words, help } = lacking;
  const missing = command.arguments.filter(({ required }, at) => required && words[at] === undefined);
  const start = endOfPath(argv, path);
  if (missing.length === 0 || start === undefined) return undefined;
  const found = command.options
    .filter(({ takes }) => takes === 'values')
    .flatMap((spec) => lastValues(argv, spec, start))
    .find(({ from, to }) => to - from > missing.length);
  if (found === undefined) return undefined;
  const { to, flag } = found;
  const taken = argv.slice(to - missing.length, to);
  const rest = [...argv.slice(start, to - missing.length), ...argv.slice(to)];
  const corrected = ['coffer', ...argv.slice(0, start), ...words, ...taken, ...withoutWords(rest, words)];
  const names = missing.map(({ metavar }) => metavar).join(' ');
  const said = taken.map((word) => `"${word}"`).join(' and ');
  return invalid(message, {
    hint: `--${flag} took ${said} as well; put ${names} first: "${corrected.map(shellWord).join(' ')}"; ${help}`,
  });
}

/** Finds the values after the last occurrence of an option: those from one index up to another. */
function lastValues(
  argv: readonly string[],
  { flag, short, former = [] }: OptionSpec,
  start: number,
): readonly { readonly flag: string; readonly from: number; readonly to: number }[] {
  const spellings = [flag, ...former].map((name) => `--${name}`);
  const at = argv.findLastIndex(
    (word, index) => index >= start && (spellings.includes(word) || word === `-${short}`),
  );
  if (at === -1) return [];
  const from = at + 1;
  const end = argv.findIndex((word, index) => index > from && word.startsWith('-') && word.length > 1);
  return [{ flag, from, to: end === -1 ? argv.length : end }];
}

/** Returns where the words of a command end; undefined if one of them was left out. */
function endOfPath(argv: readonly string[], path: readonly string[]): number | undefined {
  let end = 0;
  for (const word of path) {
    const at = argv.indexOf(word, end);
    if (at === -1) return undefined;
    end = at + 1;
  }
  return end;
}

/** Leaves out the first occurrence of each of the words that were recognised as arguments. */
function withoutWords(argv: readonly string[], words: readonly string[]): readonly string[] {
  const rest = [...argv];
  for (const word of words) rest.splice(rest.indexOf(word), 1);
  return rest;
}

/* Options with which ssh-keygen and minisign sign and verify, and the commands that do the same. */

const SIGN = 'use "coffer sign FILE --key NAME"';
const VERIFY = 'use "coffer verify FILE SIGNATURE --public-key KEY"';
const BY_OPTION: ReadonlyMap<string, string> = new Map([
  ['sign --Y', SIGN],
  ['sign --S', SIGN],
  ['verify --Y', VERIFY],
  ['verify --V', VERIFY],
]);

/**
 * Returns what to do instead of an option of another program for signatures.
 * @param flag without dashes; of a letter with others behind it, as in `-Sm`, the first one is meant
 */
export function insteadForSignatures(
  argv: readonly string[],
  path: readonly string[],
  flag: string,
): string | undefined {
  const command = signingCommand(argv, path, flag);
  if (command === 'verify' && flag === 'signature') return withSignatureAsArgument(argv);
  const whole = signingInstead(command, flag, argv.slice(argv.indexOf(path.at(-1) ?? '') + 1));
  if (whole !== undefined) return whole;
  const letter = /^[A-Z][a-z]*$/.test(flag) ? flag.charAt(0) : flag;
  return BY_OPTION.get(`${command} --${letter}`);
}

/** Returns the command here that an option for signatures is about: at the top, the option alone says it. */
function signingCommand(argv: readonly string[], path: readonly string[], flag: string): string {
  if (path.length > 0) return path.join(' ').replace(/^transit (?=sign$|verify$)/, '');
  if (flag === 'Y') return argv.includes('verify') ? 'verify' : 'sign';
  return flag.startsWith('S') ? 'sign' : '';
}

/** Returns the hint for `--signature`, with the command as it was typed where that is certain. */
function withSignatureAsArgument(argv: readonly string[]): string {
  const said = 'the signature comes right after the file';
  const [, file, option = '', ...rest] = argv;
  const inline = /^--?signature=(.*)$/s.exec(option)?.[1];
  const isAfterFile = inline !== undefined || /^--?signature$/.test(option);
  const [signature, others] = inline === undefined ? [rest[0], rest.slice(1)] : [inline, rest];
  if (argv[0] !== 'verify' || file === undefined || !isAfterFile || signature === undefined)
    return `${said}: "coffer verify FILE SIGNATURE"`;
  return `${said}: "${['coffer', 'verify', file, signature, ...others].map(shellWord).join(' ')}"`;
}
