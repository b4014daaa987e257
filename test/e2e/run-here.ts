import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { builtCommand } from '../built.ts';
import { type StreamsDouble, streamsDouble } from '../cli/streams.double.ts';
import { lightWork } from '../light-work.ts';
import type { Result } from './harness.ts';

/** What a command is to find around it. */
export interface Surroundings {
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly input: string | Uint8Array;
}

/** Commands that read and write the streams of their process. */
const OF_THE_PROCESS = new Set(['age-plugin', 'agent-process', 'keyring-agent-process']);
/** Has "exec" wait for a program that has these streams, too. */
const WAITS = '--as-file';
/** What Node reads once, when a process begins. */
const READ_AT_START = /^(?:NODE_(?!COMPILE_CACHE)|TZ$|SSL_CERT)/;

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command within this process, with pipes for streams. One at a time, because directory, environment and arguments are those of the
 * process meanwhile, as whatever the command starts has to find them.
 */
export function runHere(words: readonly string[], surroundings: Surroundings): Promise<Result> {
  requireOrdinary(words, surroundings.environment);
  const result = last.then(() => runAlone(words, surroundings));
  last = result.catch(() => undefined);
  return result;
}

async function runAlone(
  words: readonly string[],
  { directory, environment, input }: Surroundings,
): Promise<Result> {
  const streams = streamsDouble({ input });
  const usual = { directory: process.cwd(), environment: process.env, words: process.argv };
  keepIgnoring();
  const listening = signalListeners();
  process.chdir(directory);
  process.env = { ...environment };
  process.argv = [process.execPath, builtCommand(), ...words];
  const giveBack = lightWork.here();
  const program = beside(streams);
  try {
    const exitCode = await runCommandLine(words, streams, process.env);
    if (program.ended !== undefined) return program.ended;
    const { out: stdout, err: stderr, outBytes: bytes } = streams.written;
    return { exitCode, stdout, bytes, stderr };
  } finally {
    program.giveBack();
    giveBack();
    process.argv = usual.words;
    process.env = usual.environment;
    process.chdir(usual.directory);
    for (const [signal, listeners] of signalListeners()) {
      const kept = listening.get(signal) ?? [];
      for (const listener of listeners) if (!kept.includes(listener)) process.off(signal, listener);
    }
  }
}

/** Has the program for which a command gives up its process run in one of its own, which ends the command. */
function beside(streams: StreamsDouble): { readonly ended?: Result; giveBack(): void } {
  const { execve } = process;
  const found: { ended?: Result; giveBack(): void } = {
    giveBack() {
      if (execve !== undefined) process.execve = execve;
    },
  };
  process.execve = (path, [argv0 = path, ...words] = [], env = {}) => {
    const { status, stdout, stderr } = spawnSync(path, words, {
      argv0,
      env,
      input: streams.in.readAll(Number.MAX_SAFE_INTEGER),
    });
    const before = streams.written;
    const bytes = Buffer.concat([before.outBytes, stdout]);
    found.ended ??= {
      exitCode: status,
      stdout: bytes.toString(),
      bytes,
      stderr: before.err + stderr.toString(),
    };
    throw new Error('the process is that of a program now');
  };
  return found;
}

/**
 * Node ignores these from its start. "exec" listens to them, and when the last listener is taken away, the system ends the process by them
 * instead: one of its own stays.
 */
function keepIgnoring(): void {
  for (const signal of ['SIGPIPE', 'SIGXFSZ'] as const)
    if (process.listenerCount(signal) === 0) process.on(signal, () => undefined);
}

/** A process that ends takes these with it. */
const signalListeners = (): Map<NodeJS.Signals, (() => void)[]> =>
  new Map(
    process
      .eventNames()
      .filter((event): event is NodeJS.Signals => typeof event === 'string' && event in constants.signals)
      .map((signal) => [signal, process.rawListeners(signal) as (() => void)[]]),
  );

/** @throws for what only a process of its own shows. */
function requireOrdinary(words: readonly string[], environment: NodeJS.ProcessEnv): void {
  const command = words.find((word) => !word.startsWith('-')) ?? '';
  const early = Object.keys(environment).find((name) => READ_AT_START.test(name));
  const isOfTheProcess =
    OF_THE_PROCESS.has(command) || (command === 'exec' && words.some((word) => word.startsWith(WAITS)));
  const reason = isOfTheProcess
    ? `"${command}" is about its process`
    : early && `${early} is read when a process starts`;
  if (reason !== undefined) throw new Error(`${reason}: run it by "spawned"`);
}
