/** Servers in processes of their own: how tests and benchmarks start one, learn where it listens, and end it for certain. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ServerProcess {
  readonly child: ChildProcess;
  /** What it printed when it listened, the first line alone and all of them. */
  readonly address: string;
  readonly addresses: readonly string[];
  /** What it has written to standard error so far. */
  log(): string;
  /** Ends it, in order unless another signal is given, and resolves when it is gone; once is enough. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ServerProcessOptions {
  /** What is run in place of this Node. */
  readonly program?: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly directory?: string;
}

const READY_WITHIN_MS = 30_000;
/** A server finishes what is in flight; one that is still there after so long is killed. */
const GONE_WITHIN_MS = 30_000;

/**
 * Runs Node, or another program, with these parameters and waits for the addresses that the program prints.
 * @throws an error with its last words when it ends, or does not listen in time.
 */
export async function startServerProcess(
  parameters: readonly string[],
  { program = process.execPath, environment = process.env, directory }: ServerProcessOptions = {},
): Promise<ServerProcess> {
  const child = spawn(program, parameters, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment,
    cwd: directory,
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const gone = once(child, 'close');
  // However this process ends, the server must not stay.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  void gone.then(() => process.off('exit', kill));
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    child.kill(signal);
    const late = setTimeout(kill, GONE_WITHIN_MS);
    await gone;
    clearTimeout(late);
  };
  const late = AbortSignal.timeout(READY_WITHIN_MS);
  const listening = once(child.stdout, 'data', { signal: late }).catch(() => []);
  const [printed] = (await Promise.race([listening, gone.then(() => [])])) as [Buffer?];
  if (printed === undefined) {
    await stop('SIGKILL');
    throw new Error(`the server does not listen: ${log || 'it said nothing'}`);
  }
  const addresses = printed.toString().trim().split('\n');
  return { child, addresses, address: addresses[0] ?? '', log: () => log, stop };
}
