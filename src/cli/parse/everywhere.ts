import { invalid } from '../../ground/errors.ts';
import { locationForms } from '../../store/backends/registry.ts';
import {
  type Command,
  type CommandSpec,
  type Invocation,
  type OptionSpec,
  switching,
  taking,
  takingFile,
} from '../command.ts';
import type { OptionValue } from '../given.ts';
import { outputFormats } from '../settings.ts';

/** Options that every command has, before or after its name. */
export const everywhereOptions: readonly OptionSpec[] = [
  taking('store', 'DIR|URL', `Store to use: ${locationForms}.`, {
    fallback: "$COFFER_STORE, else the platform's data directory",
    offers: 'directory',
    excludes: ['address'],
  }),
  taking('address', 'URL', 'Server to use: http://…, https://… or unix:/PATH.', {
    fallback: '$COFFER_ADDR, else the local store',
  }),
  taking('token', 'TOKEN', 'Token for the server; prompts if TOKEN is omitted.', {
    takes: 'maybe',
    fallback: '$COFFER_TOKEN',
    excludes: ['token-file'],
  }),
  takingFile('token-file', 'Read the token from FILE.'),
  taking('mount', 'PATH', 'Mount (set of keys) to use.', {
    fallback: '$COFFER_MOUNT, else transit',
    offers: 'mount',
  }),
  taking('org', 'NAME', 'Organization to use for tags and workspaces.', {
    fallback:
      '$COFFER_ORG, else the only organization that exists (if the store is unlocked or a token is set)',
    offers: 'organization',
  }),
  taking(
    'output',
    'FORMAT',
    'Output format: table, wide (a table with all columns and exact times), json, or raw (only the value, for scripts).',
    { short: 'o', fallback: 'table on a terminal, otherwise raw', choices: outputFormats },
  ),
  switching('quiet', 'Print only results and errors.', { short: 'q' }),
  switching('no-color', 'Disable color.', { fallback: '$NO_COLOR' }),
  switching('no-prompt', 'Never prompt; fail if input is missing.', { fallback: '$COFFER_NO_PROMPT' }),
  switching('yes', 'Answer yes to all confirmation prompts.', { short: 'y' }),
];

/** Returns the global options besides a command's own; its own meaning of a flag takes precedence. */
export const everywhereBeside = (own: readonly OptionSpec[]): readonly OptionSpec[] =>
  everywhereOptions.filter((option) => !own.some((other) => other.flag === option.flag));

/**
 * Returns the result of both parsers: the command's own options, and the global ones.
 * @param before options before the command's name
 * @param after options after it
 * @throws `invalid` if two exclude each other
 */
export function invocation(
  path: readonly string[],
  command: Command,
  words: readonly string[],
  { before, after }: Readonly<Record<'before' | 'after', ReadonlyMap<string, OptionValue>>>,
): Invocation {
  refuseExclusions(command, before, after);
  const everywhere = new Map(before);
  const options = new Map<string, OptionValue>();
  for (const [flag, value] of after) {
    if (hasFlag(command.options, flag)) options.set(flag, value);
    // A command that declares one of these itself gives it the same meaning.
    if (hasFlag(everywhereOptions, flag)) everywhere.set(flag, value);
  }
  return { path, command, given: { arguments: words, options }, everywhere };
}

const hasFlag = (options: readonly OptionSpec[], flag: string): boolean =>
  options.some((option) => option.flag === flag);

function refuseExclusions(
  command: Command,
  before: ReadonlyMap<string, OptionValue>,
  after: ReadonlyMap<string, OptionValue>,
): void {
  const shared = everywhereBeside(command.options);
  for (const option of [...command.options, ...shared]) {
    const isGiven = (flag: string): boolean =>
      after.has(flag) || (before.has(flag) && shared.some((candidate) => candidate.flag === flag));
    const other = option.excludes?.find(isGiven);
    if (other !== undefined && isGiven(option.flag)) {
      throw invalid(`--${option.flag} cannot be used with --${other}`, { hint: 'use only one of them' });
    }
  }
}

export const AUDIT_LOG = 'audit-log';
export const auditOption = takingFile(
  AUDIT_LOG,
  'Log requests to FILE as JSON lines, each before its response is sent. Health checks are not logged.',
);

/** Whether one of several names of a command may be the value that was meant for a switch: `--exportable true`. */
export const mayTakeAnswer = (command: CommandSpec, words: readonly string[]): boolean => {
  const last = command.arguments.at(-1);
  if (last?.many !== true || last.offers === 'file' || command.passesOn) return false;
  return words.some((word) => /^(?:true|false)$/i.test(word));
};
