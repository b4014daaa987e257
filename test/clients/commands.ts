import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Run, RunOptions } from './client.ts';

/** What of a failed command's output is shown. */
const LAST_WORDS = 3_000;

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Where {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the command, and all that it has started, when the time is over. */
  readonly signal: AbortSignal;
}

/** Runs a program to its end. @throws when there is no such program, or when the time is over before. */
export async function runCommand(
  program: string,
  parameters: readonly string[],
  where: Where,
  { directory = where.directory, environment = {}, input = '' }: RunOptions = {},
): Promise<Ended> {
  where.signal.throwIfAborted();
  // A group of its own, so that what a compiler or a build tool has started ends with it.
  const child = spawn(program, parameters, {
    cwd: directory,
    env: { ...where.environment, ...environment },
    detached: true,
  });
  const kill = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  where.signal.addEventListener('abort', kill, { once: true });
  process.once('exit', kill);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  // A program that reads nothing closes its input early.
  child.stdin.on('error', () => undefined).end(input);
  try {
    const [exitCode] = (await once(child, 'close')) as [number | null];
    where.signal.throwIfAborted();
    return { exitCode, ...output };
  } finally {
    where.signal.removeEventListener('abort', kill);
    process.off('exit', kill);
  }
}

/** What is said of a command that ended otherwise than it should. */
export function lastWords(
  program: string,
  parameters: readonly string[],
  { exitCode, stdout, stderr }: Ended,
): string {
  const output = [stdout, stderr].map((text) => text.trim()).filter((text) => text !== '');
  return [`${[program, ...parameters].join(' ')}: exit code ${exitCode}`, ...output]
    .join('\n')
    .slice(-LAST_WORDS);
}

/** Runs programs that must succeed. */
export const mustSucceed =
  (where: Where): Run =>
  async (program, parameters, options) => {
    const ended = await runCommand(program, parameters, where, options);
    if (ended.exitCode !== 0) throw new Error(lastWords(program, parameters, ended));
    return ended.stdout;
  };
