import { expect } from 'vitest';
import type { DirectoryHere, RunOptions } from './directory-here.ts';

/** What stands in hints for names that the user knows. */
export type Filled = Readonly<Record<string, string>>;

/** Takes a command apart as a shell does, as far as hints need it. */
const wordsOf = (command: string): readonly string[] =>
  [...command.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replace(/'([^']*)'/g, '$1'));

/** Returns the commands in quotation marks of what a command said, without those that show help. */
export const commandsIn = (said: string): readonly string[] =>
  [...said.matchAll(/"coffer ([^"]+)"/g)]
    .map(([, command = '']) => command)
    .filter((command) => !/--help$|^help /.test(command));

/**
 * Runs each command that an error names, with the names that its placeholders stand for: each must succeed.
 * @returns the commands
 */
export async function pasted(
  here: DirectoryHere,
  said: string,
  filled: Filled,
  options: RunOptions = {},
): Promise<readonly string[]> {
  const commands = commandsIn(said);
  for (const command of commands) {
    const words = wordsOf(command).map((word) => filled[word] ?? word);
    const { exitCode, err } = await here.run(words, options);
    expect({ said, command, exitCode, err }).toMatchObject({ command, exitCode: 0 });
  }
  return commands;
}
