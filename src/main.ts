import { writeFileSync } from 'node:fs';
import { answerAtOnce } from './cli/answers.ts';
import { DONE, FAILED } from './cli/exit-codes.ts';
import { endWork } from './ground/before-exit.ts';

/** Commands that run for long, so that users find them in the list of processes. */
const LASTING: ReadonlySet<string> = new Set([
  'serve',
  'serve-worker',
  'kms',
  'agent',
  'agent-process',
  'keyring-agent-process',
]);

/** Sets the name that `ps` and `top` show, in place of that of Node's main thread. Arguments stay as they are. */
function nameProcess(argv: readonly string[]): void {
  if (process.platform !== 'linux' || !argv.some((word) => LASTING.has(word))) return;
  try {
    writeFileSync('/proc/self/comm', 'coffer');
  } catch {
    // Without /proc, or if it belongs to root, the name stays.
  }
}

/** Runs the command: arguments and streams in, exit code out. */
export async function main(argv: readonly string[]): Promise<number> {
  nameProcess(argv);
  const { runCommandLine } = await import('./cli/command-line.ts');
  const { standardStreams } = await import('./cli/terminal/streams.ts');
  return runCommandLine(argv, standardStreams(), process.env);
}

// If nothing keeps the event loop alive before `main` resolves, Node exits: that must not count as success.
process.exitCode = FAILED;

/** Name under which age runs the command as a plugin, by a link to it. */
const AGE_PLUGIN = 'age-plugin-coffer';
/** Option with which age starts a plugin. On Windows there are no such links, and argv[0] is another name. */
const AGE_PLUGIN_OPTION = '--age-plugin=';
const calledAs = [process.argv0, process.argv[1] ?? ''];
const typed = process.argv.slice(2);
const isAgePlugin =
  typed[0]?.startsWith(AGE_PLUGIN_OPTION) ||
  calledAs.some((path) => path === AGE_PLUGIN || path.endsWith(`/${AGE_PLUGIN}`));
const argv = isAgePlugin ? ['age-plugin', ...typed] : typed;
// All output has been written when `main` resolves; a prompt may have left the terminal open for reading.
if (answerAtOnce(argv)) process.exit(DONE);
else {
  main(argv).then(
    async (exitCode) => {
      await endWork();
      process.exit(exitCode);
    },
    () => process.exit(FAILED),
  );
}
