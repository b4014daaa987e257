import { asCofferError, type CofferError, unavailable } from '../../ground/errors.ts';
import type { Invocation } from '../command.ts';
import { DONE, exitCodeOf, FAILED, INTERRUPTED } from '../exit-codes.ts';
import type { Environment } from '../given.ts';
import { isColourAllowed } from '../settings.ts';
import { inFlags, inSamePlace } from './hint-words.ts';
import { messageLine } from './message.ts';
import { ClosedPipe, Interrupted, type Streams } from './streams.ts';
import { visible, visibleLines } from './visible.ts';

/**
 * Prints an error in one line on standard error: `coffer: field: message (hint)`.
 * @returns exit code
 */
export function reportError(
  error: unknown,
  streams: Streams,
  environment: Environment,
  invocation: Invocation | undefined,
): number {
  // The reader that closed the pipe needs nothing more.
  if (error instanceof ClosedPipe) return DONE;
  if (error instanceof Interrupted) {
    streams.err.write('\n');
    return INTERRUPTED;
  }
  const alarm = isColourAllowed(environment) && !invocation?.everywhere.has('no-color') ? 'error' : undefined;
  const print = (line: string): void => streams.err.write(messageLine(streams.err, line, alarm));
  if (environment['COFFER_DEBUG']) streams.err.write(`${visibleLines(stackOf(error))}\n`);
  const known = asCofferError(error);
  const platform = known === undefined ? platformMessage(error) : undefined;
  if (platform !== undefined) {
    print(errorLine(platform, undefined, undefined));
    return FAILED;
  }
  if (known === undefined) {
    const text = `coffer: unexpected: ${visible(messageOf(error))} (COFFER_DEBUG=1 shows where; please report it)`;
    print(text);
    return FAILED;
  }
  const labels = (field: string) => invocation?.command.labelOf?.(field);
  const [message, hint = ''] = [known.message, known.hint].map((text) => text && inFlags(text, labels));
  const label = labelOf(known, invocation);
  const source = variableFor(label, environment, invocation) ?? label;
  print(
    errorLine(
      message ?? '',
      source !== undefined && isSaidIn(message ?? '', source) ? undefined : source,
      inSamePlace(hint, invocation?.everywhere),
    ),
  );
  return exitCodeOf[known.kind];
}

/** Whether a message names the argument or option itself: `missing secret id`, `invalid --path-suffix`. */
const isSaidIn = (message: string, label: string): boolean =>
  message.startsWith(`${label} `) ||
  ['invalid', 'missing'].some((word) =>
    [label, `'${label}'`].some((name) => `${message} `.startsWith(`${word} ${name} `)),
  );

/** Returns the argument or option that the error is about, as written in help. */
function labelOf({ kind, field }: CofferError, invocation: Invocation | undefined): string | undefined {
  if (field === undefined || isPointer(field)) return undefined;
  const own = invocation?.command.labelOf?.(field) ?? argumentFor(field, invocation);
  const label = own ?? field;
  // The main input of a command may be called as an option that every command has: a wrapping token is not `--token`.
  const isOption =
    (own === undefined && OWN_OPTIONS.has(label)) ||
    invocation?.command.options.some(({ flag }) => flag === label) === true;
  const typed = isOption ? `--${label}` : label;
  // Errors about a missing or existing object name it in the text or the hint; "NAME: not found" would be confusing.
  const aboutTheThing = kind === 'not-found' || kind === 'conflict' || kind === 'exists';
  return aboutTheThing && !typed.startsWith('--') ? undefined : typed;
}

/** Fields of operations that name a key: a command that runs them has it as an option, or as its argument. */
const OF_KEY_NAMES = new Set(['name', 'key']);

/** Returns the argument or option that a field is from, in a command that is not itself an operation. */
function argumentFor(field: string, invocation: Invocation | undefined): string | undefined {
  const { options = [], arguments: specs = [] } = invocation?.command ?? {};
  const hasOption = (name: string): boolean => options.some(({ flag }) => flag === name);
  if (hasOption(field)) return undefined;
  if (OF_KEY_NAMES.has(field) && hasOption('key')) return '--key';
  const words = [field.toUpperCase(), ...(OF_KEY_NAMES.has(field) ? ['NAME'] : [])];
  return words.find((word) => specs.some(({ metavar }) => metavar === word));
}

/** Variables that have the values of options that are not given, in order of precedence. */
const VARIABLES: ReadonlyMap<string, readonly string[]> = new Map([
  ['--store', ['COFFER_STORE']],
  ['--address', ['COFFER_ADDR', 'VAULT_ADDR']],
  ['--token', ['COFFER_TOKEN', 'VAULT_TOKEN']],
]);

/** Returns the variable that the value of an option came from; undefined if the option is on the command line. */
function variableFor(
  label: string | undefined,
  environment: Environment,
  invocation: Invocation | undefined,
): string | undefined {
  if (label === undefined || invocation?.everywhere.has(label.slice(2)) !== false) return undefined;
  return VARIABLES.get(label)?.find((name) => Boolean(environment[name]));
}

/**
 * Whether a field is a JSON pointer. A place in a request document is useless to a user of the command line; the hint
 * quotes the value.
 */
const isPointer = (field: string): boolean => field.startsWith('/');

/** Converts an error of the operating system to a CofferError; returns any other unchanged. */
export function foreseen(error: unknown): unknown {
  const message = asCofferError(error) === undefined ? platformMessage(error) : undefined;
  return message === undefined ? error : unavailable(message, { cause: error });
}

/** Returns the message of the operating system, e.g. that the disk behind standard output is full. */
function platformMessage(error: unknown): string | undefined {
  const { syscall, errno, path } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (syscall === undefined || errno === undefined) return undefined;
  const reason = process.getBuiltinModule('node:util').getSystemErrorMessage(errno);
  return `cannot ${syscall}${path === undefined ? '' : ` ${path}`}: ${reason}`;
}

/** Names of options that are written with dashes, besides those of the command and the global ones. */
const OWN_OPTIONS = new Set([
  ...['in', 'out', 'out-dir', 'batch', 'output'],
  ...['store', 'address', 'token', 'token-file', 'mount'],
]);

/** Formats an error in one line, whatever the texts contain. */
export function errorLine(message: string, label: string | undefined, hint: string | undefined): string {
  const where = label === undefined ? '' : `${label}: `;
  const advice = hint === undefined || hint === '' ? '' : ` (${hint.replace(/\.$/, '')})`;
  return visible(`coffer: ${where}${oneLine(message)}${advice}`);
}

/** Joins lines, without blank ones in between. */
function oneLine(message: string): string {
  const lines = message.split('\n');
  const last = lines.length - 1;
  const trimmed = lines.map((line, index) =>
    index === 0 ? (last === 0 ? line : line.trimEnd()) : index === last ? line.trimStart() : line.trim(),
  );
  return trimmed.filter((line, index) => line !== '' || index === 0 || index === last).join('; ');
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
