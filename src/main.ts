import { answerAtOnce } from './cli/answers.ts';
import { DONE, FAILED } from './cli/exit-codes.ts';

/** The command: arguments and streams in, exit code out. */
export async function main(argv: readonly string[]): Promise<number> {
  const { runCommandLine } = await import('./cli/command-line.ts');
  const { standardStreams } = await import('./cli/terminal/streams.ts');
  return runCommandLine(argv, standardStreams(), process.env);
}

// Should nothing be left to wait for before `main` has answered, Node ends the process: that must not pass for a success.
process.exitCode = FAILED;

/** age looks for its plugins by name: a link of that name to the command is one. */
const AGE_PLUGIN = 'age-plugin-coffer';
/** With which age starts a plugin. On Windows there are no such links, and what starts the command there says another name. */
const AGE_PLUGIN_OPTION = '--age-plugin=';
const calledAs = [process.argv0, process.argv[1] ?? ''];
const typed = process.argv.slice(2);
const isAgePlugin =
  typed[0]?.startsWith(AGE_PLUGIN_OPTION) ||
  calledAs.some((path) => path === AGE_PLUGIN || path.endsWith(`/${AGE_PLUGIN}`));
const argv = isAgePlugin ? ['age-plugin', ...typed] : typed;
// Everything has been written when `main` answers; a prompt may have left the terminal open for reading.
if (answerAtOnce(argv)) process.exit(DONE);
else {
  main(argv).then(
    (exitCode) => process.exit(exitCode),
    () => process.exit(FAILED),
  );
}
