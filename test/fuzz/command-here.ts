import { runCommandLine } from '../../src/cli/command-line.ts';
import type { Environment } from '../../src/cli/given.ts';
import { promptsDouble, streamsDouble } from '../cli/streams.double.ts';

/** What a command did. */
export interface Result {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process; nobody is there to be asked. */
export async function commandHere(
  words: readonly string[],
  environment: Environment,
  input: string | Uint8Array,
): Promise<Result> {
  const streams = streamsDouble({ input });
  const exitCode = await runCommandLine(words, streams, environment, promptsDouble([], false));
  const { out, err } = streams.written;
  return { exitCode, out, err };
}

/** The output of a command that must succeed; words of a line are separated by single spaces. */
export async function runHere(line: string, environment: Environment, input: string): Promise<string> {
  const { exitCode, out, err } = await commandHere(line.split(' '), environment, input);
  if (exitCode !== 0) throw new Error(`"${line}" ended with ${exitCode}: ${err}`);
  return out;
}
