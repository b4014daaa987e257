import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A process that says what it has done, line by line. */
export interface Child {
  readonly process: ChildProcess;
  /** Every line so far. */
  readonly lines: string[];
  /** Resolves once it has written this line. */
  said(line: string): Promise<void>;
  /** Resolves once it has written so many lines. */
  saidLines(count: number): Promise<void>;
  /** Resolves with the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
}

/** Runs a module in a process of its own. @param parameters its path, and what it is given. */
export function startChild(parameters: readonly string[]): Child {
  const process_ = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const reader = createInterface({ input: process_.stdout });
  reader.on('line', (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const ended = Promise.all([once(process_, 'exit'), once(reader, 'close')]).then(
    ([[code, signal]]) => (code ?? signal) as number | string,
  );
  const until = async (heard: () => boolean, what: string): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (heard()) resolve();
    };
    waiting.add(look);
    look();
    await Promise.race([promise, ended]);
    waiting.delete(look);
    if (!heard()) throw new Error(`the child ended (${await ended}) before it said ${what}`);
  };
  return {
    process: process_,
    lines,
    said: (line) => until(() => lines.includes(line), `"${line}"`),
    saidLines: (count) => until(() => lines.length >= count, `${count} lines`),
    ended,
  };
}
