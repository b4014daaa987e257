import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { inject } from 'vitest';
import { usualWorld } from './layer/fixed-world.ts';
import type { Call, Fault } from './layer/plan.ts';
import type { Orders } from './layer/preload.ts';
import type { Sandbox } from './sandbox.ts';

export interface Outcome {
  /** The exit code, or the signal's name. */
  readonly end: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

interface Strike {
  readonly at: number;
  readonly fault: Fault;
}

/** Runs the command in a process of its own, with a fault at one of its calls. */
export async function runStruck(
  box: Sandbox,
  words: readonly string[],
  input: string | undefined,
  strike: Strike,
): Promise<Outcome> {
  return run(box, words, input, { world: usualWorld, plan: { root: box.root, watch: 'changes', ...strike } });
}

/** Runs the command undisturbed. @returns every call by which it changes something or tells about it. */
export async function traceOf(
  box: Sandbox,
  words: readonly string[],
  input: string | undefined,
): Promise<readonly Call[]> {
  const trace = `${box.root}.trace`;
  const orders: Orders = { world: usualWorld, plan: { root: box.root, watch: 'changes' }, trace };
  const { end, stderr } = await run(box, words, input, orders);
  if (end !== 0) throw new Error(`coffer ${words.join(' ')} ended with ${end}: ${stderr}`);
  return JSON.parse(readFileSync(trace, 'utf8')) as readonly Call[];
}

async function run(
  box: Sandbox,
  words: readonly string[],
  input: string | undefined,
  orders: Orders,
): Promise<Outcome> {
  const child = spawn(process.execPath, ['--require', inject('preload'), inject('command'), ...words], {
    cwd: box.root,
    env: {
      ...box.environment,
      COFFER_TEST_FAULTS: JSON.stringify(orders),
      NODE_COMPILE_CACHE: `${inject('command')}.cache`,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A process that dies before it has read everything closes the pipe; that is no news here.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const { promise, resolve, reject } = Promise.withResolvers<number | string>();
  child.on('error', reject).on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  return { end: await promise, ...output };
}
