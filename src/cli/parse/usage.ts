import { CofferError } from '../../ground/errors.ts';
import type { CommandSpec, Invocation } from '../command.ts';

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

/** Messages about a value that is missing. */
const MISSING = /^missing /;

/**
 * Words the error about an argument that only some callers may omit as that about any missing argument.
 * @returns the error itself if it is about something else
 */
export function asMissingArgument(error: CofferError, { path, command, given }: Invocation): CofferError {
  const { kind, field, message } = error;
  if (kind !== 'invalid' || field === undefined || !MISSING.test(message)) return error;
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
