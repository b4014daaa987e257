import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { unavailable } from '../../ground/errors.ts';
import { startsSurely } from './program.ts';

/** A program that is found, and what it is started with. */
export interface Launch {
  readonly path: string;
  /** The name it was called by, then its arguments. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** On Windows: the words are quoted already, as the program reads them. */
  readonly asItIs?: boolean;
}

/** Less than any system takes for arguments and environment together. */
const SAFE_BYTES = 1 << 18;
/** What shells report for a program that a signal ended: this and the signal's number. */
const ENDED_BY_SIGNAL = 128;
/** Signals that a person or a supervisor sends to a process to tell it something. */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;
/** What a terminal sends to each process in its foreground by itself. */
const FROM_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGWINCH']);
/** At most. */
const SIGNAL_TAKES_MS = 1000;
/** Ends that whoever started us should see as they are; others might write a core file of this process. */
const PASSED_ON: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Puts the program in the place of this process, with its process id, terminal, signals and exit code. Returns only where that can't
 * be done: on Windows, and where it might fail, which Node answers with an abort.
 * @see docs/decisions/0150
 */
export function replaceProcess({ path, words, environment }: Launch): void {
  const size = [...words, ...Object.entries(environment).flat()].reduce(
    (sum, text) => sum + text.length + 1,
    0,
  );
  if (process.execve === undefined || size > SAFE_BYTES || !startsSurely(path)) return;
  // Node ignores these two, and what is ignored stays so in the program, whereas what is handled becomes the default again.
  for (const signal of ['SIGPIPE', 'SIGXFSZ'] as const) process.on(signal, () => {});
  process.execve(path, words, environment);
}

/**
 * Starts the program as a child with our streams, passes signals on, and waits for its end.
 * @param made what is made for the program alone is made in there: a signal that comes meanwhile reaches the program, and does not end
 * this process before it could take away what it made.
 * @returns its exit code, or 128 and the number of the signal that ended it.
 * @throws `unavailable` when the system does not start it.
 */
export async function runChild(made: Launch | (() => Launch)): Promise<Ended> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  let child: ChildProcess | undefined;
  // Before the program runs: a signal that comes as soon as it does would end this process, and leave the program and its file behind.
  const stop = forwardSignals((signal) => child?.kill(signal));
  let launch: Launch | undefined;
  try {
    launch = typeof made === 'function' ? made() : made;
    const { path, words, environment, asItIs = false } = launch;
    const [argv0 = path, ...rest] = words;
    // What is too large together is thrown, and not told by an event.
    child = spawn(path, rest, {
      argv0,
      env: environment,
      stdio: 'inherit',
      windowsVerbatimArguments: asItIs,
    });
    return await endOf(child);
  } catch (error) {
    if (launch === undefined) throw error;
    const { path, words, environment } = launch;
    const { code } = error as NodeJS.ErrnoException;
    // A script that does not name its interpreter is the shell's, as with execvp.
    if (code === 'ENOEXEC' && path !== SHELL) {
      return runChild({ path: SHELL, words: [SHELL, path, ...words.slice(1)], environment });
    }
    throw unavailable(`can't start ${path}: ${START_FAILURES[code ?? ''] ?? code}`, { cause: error });
  } finally {
    stop();
  }
}

const SHELL = '/bin/sh';

const START_FAILURES: Readonly<Record<string, string>> = {
  E2BIG: 'its variables and arguments are too large together',
  ENOENT: 'the interpreter or loader that it names is missing',
  ENOEXEC: 'it is no program for this machine',
  EACCES: 'permission denied',
  // On Windows, where Node starts none, for no quoting is safe there.
  EINVAL: 'it is a batch file, which has to be started by "cmd /c"',
};

/** How a child ended. */
export interface Ended {
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
}

function endOf(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      const number = signal === null ? 0 : constants.signals[signal];
      resolve({ exitCode: code ?? ENDED_BY_SIGNAL + number, signal });
    });
  });
}

/** @returns what ends it. */
function forwardSignals(send: (signal: NodeJS.Signals) => void): () => void {
  const handlers = FORWARDED.map((signal) => {
    const forward = (): void => {
      if (!(FROM_TERMINAL.has(signal) && isInForeground())) send(signal);
    };
    process.on(signal, forward);
    return () => process.off(signal, forward);
  });
  return () => {
    for (const stop of handlers) stop();
  };
}

/** Whether this process belongs to those that its terminal sends signals to. The child, in the same group, then gets them itself. */
function isInForeground(): boolean {
  if (process.platform !== 'linux') return process.stdin.isTTY === true;
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const [, , group, , , terminalGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group === terminalGroup;
}

/** Ends this process by the signal that has ended its child, where whoever started it would go by that. */
export function passOn({ signal }: Ended): void {
  if (signal === null || !PASSED_ON.has(signal)) return;
  process.kill(process.pid, signal);
  // Another thread may be the one that takes it: until then we must not end by ourselves.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SIGNAL_TAKES_MS);
}
