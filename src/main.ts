import { runCommandLine } from './cli/command-line.ts';
import { FAILED } from './cli/exit-codes.ts';
import { standardStreams } from './cli/terminal/streams.ts';

/** The command: arguments and streams in, exit code out. */
export const main = (argv: readonly string[]): Promise<number> =>
  runCommandLine(argv, standardStreams(), process.env);

// Should nothing be left to wait for before `main` has answered, Node ends the process: that must not pass for a success.
process.exitCode = FAILED;

// Everything has been written when `main` answers; a prompt may have left the terminal open for reading.
main(process.argv.slice(2)).then(
  (exitCode) => process.exit(exitCode),
  () => process.exit(FAILED),
);
