import { runCommandLine } from '../../src/cli/command-line.ts';
import { DEFAULT_COLUMNS } from '../../src/cli/terminal/streams.ts';
import { promptsDouble, type StreamsSetup, streamsDouble } from '../cli/streams.double.ts';
import { lightWork } from '../light-work.ts';
import { emptyPlace, MASTER_KEY, type Place } from './harness.ts';

interface Terminal {
  /** What is answered to questions, the first one first. */
  readonly answers?: readonly (string | boolean)[];
  readonly columns?: number;
  /** The streams that are terminals. */
  readonly terminals?: NonNullable<StreamsSetup['terminals']>;
}

/** Runs a command as if typed at a terminal, in this process. @param line its words, separated by single spaces */
export async function typedAt(
  place: Place,
  line: string,
  { answers = [], columns = DEFAULT_COLUMNS, terminals = ['in', 'out', 'err'] }: Terminal = {},
) {
  const streams = streamsDouble({ terminals, columns });
  const prompts = promptsDouble(answers);
  // Passphrases are stretched as by the other commands of the tests, which opens the slots that those have made.
  const inEarnest = lightWork.here();
  const exitCode = await runCommandLine(line.split(' '), streams, place.environment(), prompts).finally(
    inEarnest,
  );
  return { exitCode, stdout: streams.written.out, stderr: streams.written.err, asked: prompts.asked };
}

/** A directory of its own: as it is, and with a store, in which these commands were run. */
export async function filledPlace(
  lines: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly bare: Place; readonly here: Place }> {
  const bare = emptyPlace();
  const here = bare.with({ COFFER_MASTER_KEY: MASTER_KEY, ...environment });
  for (const line of ['init', ...lines]) await here.ok(line);
  return { bare, here };
}
