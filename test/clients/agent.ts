import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startServerProcess } from '../servers/server-process.ts';
import type { Bench } from './client.ts';

/** An agent of a check, and our own command on the same store. */
export interface Agent {
  /** What programs find the agent with, and our own command the store. */
  readonly environment: Readonly<Record<string, string>>;
  coffer(...parameters: readonly string[]): Promise<string>;
  /** Gives its keys up; it goes on, and answers that it is locked. */
  stop(): Promise<void>;
}

/** Keys that a check needs: their names and types. */
export type Keys = Readonly<Record<string, string>>;

/**
 * Makes a store with keys, and starts an agent for it, as a service manager does.
 * @param parameters further ones of `coffer agent run`.
 */
export async function startAgent(
  bench: Bench,
  keys: Keys,
  parameters: readonly string[] = [],
): Promise<Agent> {
  const runtime = join(bench.directory, 'run');
  mkdirSync(runtime, { mode: 0o700, recursive: true });
  const environment = {
    HOME: bench.directory,
    XDG_RUNTIME_DIR: runtime,
    COFFER_STORE: join(bench.directory, 'store'),
    COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const [node = '', ...command] = bench.commandLine;
  const coffer = (...words: readonly string[]): Promise<string> =>
    bench.run(node, [...command, ...words], { environment });
  await coffer('init');
  for (const [name, type] of Object.entries(keys)) {
    await coffer('transit', 'keys', 'create', name, '--type', type);
  }
  const { stop } = await startServerProcess([...command, 'agent', 'run', ...parameters], {
    directory: bench.directory,
    environment: { PATH: process.env['PATH'], ...environment },
  });
  const printed = JSON.parse(await coffer('agent', 'env', '-o', 'json')) as Record<string, string>;
  return { environment: { ...environment, ...printed }, coffer, stop };
}

/** As {@link startAgent}, and ends it after the work. */
export async function withAgent(
  bench: Bench,
  keys: Keys,
  work: (agent: Agent) => Promise<void>,
): Promise<void> {
  const agent = await startAgent(bench, keys);
  try {
    await work(agent);
  } finally {
    await agent.stop();
  }
}
