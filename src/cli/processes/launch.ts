import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { asCofferError, unavailable } from '../../ground/errors.ts';
import { NOT_EXECUTABLE, PROGRAM_NOT_FOUND } from '../exit-codes.ts';
import { isBeingWritten, isBinary, isBroken, startsSurely } from '../files/program.ts';
import { ownGroups } from '../terminal/prompt.ts';

/** Program that was found, and its arguments. */
export interface Launch {
  readonly path: string;
  /** Name it is called by, then its arguments. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the words are already quoted as the program parses them, on Windows. */
  readonly asItIs?: boolean;
}

/**
 * Size of arguments and environment, in bytes, that every system accepts. Linux accepts this much even with a small
 * limit of the stack, and no single text that is larger.
 */
const SAFE_BYTES = 1 << 17;
/** Size that the system itself adds: the path of the program, and an interpreter with its argument. */
const ADDED_BYTES = 1 << 13;
/** Size of the terminating zero and of the pointer that each text needs. */
const BYTES_BESIDE_TEXT = 9;
/** Exit code of shells for a program ended by a signal: this plus the signal's number. */
const ENDED_BY_SIGNAL = 128;
/** Signals that users or supervisors send to a process to notify it. */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;
/** Signals that a terminal itself sends to each process of its foreground group. */
const FROM_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGWINCH']);
/** Maximum time until a signal ends this process, in milliseconds. */
const SIGNAL_TAKES_MS = 1000;
/** Signals that the parent process should see as they are; others might make this process write a core dump. */
const PASSED_ON: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Replaces this process by the program, keeping process ID, terminal, signals and exit code. Returns only if that is
 * impossible: on Windows, or if it might fail, in which case Node would abort.
 * @see docs/decisions/0150
 */
export function replaceProcess({ path, words, environment }: Launch): void {
  if (process.execve === undefined || sizeOf(words, environment) > SAFE_BYTES - ADDED_BYTES) return;
  if (!startsSurely(path) || isBeingWritten(path)) return;
  // Node ignores these two. Ignored signals remain ignored in the program, whereas handled ones are reset to the
  // default.
  for (const signal of ['SIGPIPE', 'SIGXFSZ'] as const) process.on(signal, () => {});
  process.execve(path, words, environment);
}

function sizeOf(words: readonly string[], environment: Launch['environment']): number {
  const texts = [...words, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + BYTES_BESIDE_TEXT, 0);
}

/**
 * Starts the program as a child with the same streams, forwards signals, and waits until it ends.
 * @param made function that also creates the program's files: a signal that arrives meanwhile is forwarded to the
 * program, and does not end this process before it can remove them
 * @returns exit code, or 128 plus the number of the signal that ended it
 * @throws `unavailable` if the system cannot start it
 */
export async function runChild(made: Launch | (() => Launch)): Promise<Ended> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  let child: ChildProcess | undefined;
  // Before the program runs: a signal right after its start would end this process, and leave the program and its file
  // behind.
  const stop = forwardSignals((signal) => child?.kill(signal));
  let launch: Launch | undefined;
  try {
    launch = typeof made === 'function' ? made() : made;
    const { path, words, environment, asItIs = false } = launch;
    const [argv0 = path, ...rest] = words;
    if (isBroken(path)) throw Object.assign(new Error('no program'), { code: 'ENOEXEC', syscall: 'spawn' });
    // Arguments that are too large are thrown, not reported by an event.
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
    // A script without an interpreter line is run by the shell, as with execvp.
    if (code === 'ENOEXEC' && path !== SHELL && !isBinary(path)) {
      return runChild({ path: SHELL, words: [SHELL, path, ...words.slice(1)], environment });
    }
    throw unavailable(`cannot start ${path}: ${START_FAILURES[code ?? ''] ?? code}`, { cause: error });
  } finally {
    stop();
  }
}

const SHELL = '/bin/sh';

const START_FAILURES: Readonly<Record<string, string>> = {
  E2BIG: 'arguments and environment are too large',
  ENOENT: 'its interpreter or loader was not found',
  ENOEXEC: 'not an executable for this machine',
  EACCES: 'permission denied',
  ETXTBSY: 'it is open for writing',
  // On Windows, Node starts no batch files, since they cannot be quoted safely.
  EINVAL: 'it is a batch file: run it with "cmd /c"',
};

/** Errors of a system that has no room for any further process, whatever the program. */
const NO_ROOM: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']);

/** Failure of a start that is due to the program, or to what it was given. */
interface StartFailure {
  readonly message: string;
  /** Name of the system's error. */
  readonly code: string;
  /** Exit code of shells. */
  readonly exitCode: number;
}

/** Returns the failure that `runChild` has reported; undefined for any other error. */
export function startFailure(error: unknown): StartFailure | undefined {
  const known = asCofferError(error);
  const { code, syscall } = (known?.cause ?? {}) as NodeJS.ErrnoException;
  if (known === undefined || code === undefined || !syscall?.startsWith('spawn')) return undefined;
  if (NO_ROOM.has(code)) return undefined;
  return { message: known.message, code, exitCode: code === 'ENOENT' ? PROGRAM_NOT_FOUND : NOT_EXECUTABLE };
}

/** Exit status of a child. */
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

/**
 * Forwards signals to the child.
 * @returns function that stops that
 */
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

/**
 * Whether this process is in the foreground group of its terminal. The child, in the same group, then receives its
 * signals directly.
 */
function isInForeground(): boolean {
  if (process.platform !== 'linux') return process.stdin.isTTY === true;
  const [own, foreground] = ownGroups();
  return own === foreground;
}

/** Ends this process by the signal that ended its child, for parents that check for it. */
export function passOn({ signal }: Ended): void {
  if (signal === null || !PASSED_ON.has(signal)) return;
  process.kill(process.pid, signal);
  // Another thread may take it: until then this process must not end by itself.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SIGNAL_TAKES_MS);
}
