import { isRegularFile } from '../../ground/directories.ts';
import { type CofferError, invalid } from '../../ground/errors.ts';
import type { Command } from '../command.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { IN } from './operation-spec.ts';

/* What is meant by words too many on a command line. */

/** Command group for files that name their key; these commands take one file as an argument. */
const ENVELOPE = 'transit envelope';

/** Command of Vault's API whose path has the type of what is exported before the key. */
const EXPORT = 'transit keys export';
const OF_EXPORT = /^(?:(?:encryption|signing|hmac|public)-key|certificate-chain)$/;

/** Command line with too many words. */
interface Excess {
  readonly argv: readonly string[];
  readonly path: readonly string[];
  readonly command: Command | undefined;
  /** Words after the command. */
  readonly words: readonly string[];
  /** Reference to the help. */
  readonly help: string;
}

/** Returns the error for too many words, with what was probably meant by them. */
export function tooManyWords(message: string, { argv, path, command, words, help }: Excess): CofferError {
  const answered = answeredSwitch(argv, command, help);
  if (answered !== undefined) return answered;
  const [type = '', name = ''] = words;
  if (path.join(' ') === EXPORT && words.length === 2 && OF_EXPORT.test(type)) {
    return invalid(message, {
      hint: `run "coffer transit keys export ${shellWord(name)} --key-type ${type}"`,
    });
  }
  const ofEnvelope = wordsOfEnvelope(path, words);
  if (ofEnvelope !== undefined) return invalid(message, { hint: ofEnvelope });
  const takesFiles = command?.options.some(({ flag }) => flag === IN) === true;
  const takesValue = command?.arguments.some(({ metavar }) => metavar === 'VALUE') === true;
  const advice = takesValue ? 'quote a value that has spaces; ' : takesFiles ? 'name a file with --in; ' : '';
  return invalid(message, { hint: advice + help });
}

/** Returns the hint for too many words after a command for an encrypted file: its key, or further files. */
function wordsOfEnvelope(path: readonly string[], words: readonly string[]): string | undefined {
  if (path.slice(0, -1).join(' ') !== ENVELOPE) return undefined;
  const call = ['coffer', ...path].join(' ');
  const [, ...files] = words;
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
  const isSwitch = (name: string): boolean =>
    command?.options.some(({ flag, takes }) => flag === name && takes === 'nothing') === true;
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
