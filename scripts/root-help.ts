import { parseWithCommander } from '../src/cli/parse/program.ts';
import type { Streams } from '../src/cli/terminal/streams.ts';
import { commandTree } from '../src/cli/tree.ts';

const output = { isTerminal: false, columns: 80 };

/** Returns the output of `coffer --help` without a terminal, formatted once for the bundle. */
export async function rootHelp(): Promise<string> {
  const streams = { out: output, err: output } as unknown as Streams;
  const outcome = await parseWithCommander(['--help'], commandTree, streams);
  if (outcome.kind !== 'print') throw new Error('--help is no longer answered by help');
  return outcome.text;
}
