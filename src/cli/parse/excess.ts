import { isRegularFile } from '../../ground/directories.ts';
import { type CofferError, invalid } from '../../ground/errors.ts';
import type { Command } from '../command.ts';
import { shellWord } from '../terminal/shell-word.ts';

/* What is meant by words too many on a command line. */

/** Command group for files that name their key; these commands take one file as an argument. */
const ENVELOPE = 'transit envelope';

/** Returns the hint for too many words after a command for an encrypted file: its key, or further files. */
export function wordsOfEnvelope(path: readonly string[], words: readonly string[]): string | undefined {
  if (path.slice(0, -1).join(' ') !== ENVELOPE) return undefined;
  const call = ['coffer', ...path].join(' ');
  const [, ...files] = words;
  if (words.every(isRegularFile)) return `run "${call} --in ${words.map(shellWord).join(' ')}"`;
  if (!files.every(isRegularFile)) return undefined;
  const named = files.length === 1 ? 'the file names it' : 'the files name it';
  const option = files.length === 1 ? '' : '--in ';
  return `leave out the key, ${named}: "${call} ${option}${files.map(shellWord).join(' ')}"`;
}

/** Returns the error for a switch that is followed by a value, as in Vault's API: `--deletion-allowed true`. */
export function answeredSwitch(
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
