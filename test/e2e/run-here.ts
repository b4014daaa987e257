import { constants } from 'node:os';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { builtCommand } from '../built.ts';
import { streamsDouble } from '../cli/streams.double.ts';
import { lightWork } from '../light-work.ts';
import type { Result } from './harness.ts';

/** What a command is to find around it. */
export interface Surroundings {
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly input: string | Uint8Array;
}

/** Commands that take the place of their process, or read and write its own streams. */
const OF_THE_PROCESS = new Set(['exec', 'age-plugin', 'agent-process', 'keyring-agent-process']);
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
  const listening = signalListeners();
  process.chdir(directory);
  process.env = { ...environment };
  process.argv = [process.execPath, builtCommand(), ...words];
  const giveBack = lightWork.here();
  try {
    const exitCode = await runCommandLine(words, streams, process.env);
    const { out: stdout, err: stderr, outBytes: bytes } = streams.written;
    return { exitCode, stdout, bytes, stderr };
  } finally {
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
  const reason = OF_THE_PROCESS.has(command)
    ? `"${command}" is about its process`
    : early && `${early} is read when a process starts`;
  if (reason !== undefined) throw new Error(`${reason}: run it by "spawned"`);
}
