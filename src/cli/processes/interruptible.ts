import type { Interruption } from '../../store/administration/backup.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Process that receives signals; a stand-in in tests. */
interface SignalHost {
  readonly pid: number;
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  kill(pid: number, signal: NodeJS.Signals): unknown;
}

/**
 * Runs work that removes its unfinished files when it fails. Once it has begun to write, Ctrl-C and similar signals
 * abort it, and the process ends by the signal after the cleanup; before that, and at a second signal, it ends at once.
 * Completed work is not undone.
 * @param work fails soon after it was aborted
 */
export async function interruptible<T>(
  work: (interruption: Interruption) => Promise<T>,
  host: SignalHost = process,
): Promise<T> {
  const controller = new AbortController();
  let received: NodeJS.Signals | undefined;
  const stop = (): void => {
    for (const signal of SIGNALS) host.off(signal, end);
  };
  const end = (signal: NodeJS.Signals): void => {
    received = signal;
    stop();
    controller.abort();
  };
  const begin = (): void => {
    for (const signal of SIGNALS) host.on(signal, end);
  };
  try {
    return await work({ begin, ended: controller.signal });
  } finally {
    stop();
    if (received !== undefined) host.kill(host.pid, received);
  }
}
