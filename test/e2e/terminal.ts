import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { commandWords, type Place } from './harness.ts';

const driver = fileURLToPath(new URL('terminal-driver.py', import.meta.url));

/** Python's standard library has pseudo-terminals; Node's has none. By its own path: `python3` may be a script that looks for it. */
const python = spawnSync('python3', ['-c', 'import pty, sys; print(sys.executable)'], { encoding: 'utf8' });
export const canUseTerminals = python.status === 0;

/** Wait until the screen shows something new that matches, then type. */
export type Step = readonly [wait: string, send: string];

export interface Screen {
  /** Everything that was written to the terminal, with `\n` line ends. */
  readonly screen: string;
  /** The same without escape sequences. */
  readonly text: string;
  readonly exitCode: number;
}

/** The answer of somebody who wants no agent, which is asked for once when a passphrase was right. */
export const NO_AGENT: Step = ['Keep the store unlocked', '\r'];

export interface TerminalOptions {
  readonly columns?: number;
  readonly steps?: readonly Step[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const SECONDS = 40;

const commandLine = (): string =>
  [process.execPath, ...commandWords()].map((word) => JSON.stringify(word)).join(' ');

/** Variables with which a short job is a long one, and shows its progress. */
export const hurried = {
  NODE_OPTIONS: `--require ${fileURLToPath(new URL('hurried.preload.cjs', import.meta.url))}`,
};

/** Runs a shell script with `coffer` in it on a terminal. */
export function onTerminal(place: Place, script: string, options: TerminalOptions = {}): Screen {
  const define = `coffer() { ${commandLine()} "$@"; }`;
  const job = {
    argv: ['bash', '-c', `${define}\n${script}`],
    env: place.environment({ TERM: 'xterm-256color', ...options.environment }),
    cwd: place.directory,
    columns: options.columns ?? 80,
    steps: (options.steps ?? []).map(([wait, send]) => ({ wait, send })),
    timeout: SECONDS,
  };
  const { stdout, stderr, status } = spawnSync(python.stdout.trim(), ['-I', '-S', driver], {
    input: JSON.stringify(job),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the terminal driver failed: ${stderr}`);
  const result = JSON.parse(stdout) as { screen: string; exitCode: number; unanswered: number };
  const screen = result.screen.replaceAll('\r\n', '\n');
  if (result.unanswered > 0) throw new Error(`nothing on the screen matched the next step: ${screen}`);
  return { screen, text: withoutEscapes(screen), exitCode: result.exitCode };
}

/** Joins the lines of messages that the terminal was too narrow for. */
export const unwrapped = (text: string): string => text.replace(/\n(?!coffer:|\?|$)/g, ' ');

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
const withoutEscapes = (screen: string): string => screen.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '');
