import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, renameSync } from 'node:fs';
import { inject, onTestFinished } from 'vitest';
import type { Expected } from './aftermath.ts';
import { usualWorld } from './layer/fixed-world.ts';
import type { Call, Fault, Moment, Orders } from './layer/plan.ts';
import { Sandbox } from './sandbox.ts';
import { lookAt, type Write } from './writes.ts';

export interface Outcome {
  /** The exit code, or the signal's name. */
  readonly end: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

interface Strike {
  readonly at: number;
  readonly fault: Fault;
  readonly inTurn?: boolean;
}

/** Runs the command in a process of its own, with a fault at one of its calls. */
export async function runStruck(
  box: Sandbox,
  words: readonly string[],
  input: string | undefined,
  { inTurn = false, ...strike }: Strike,
): Promise<Outcome> {
  const plan = { root: box.root, watch: 'changes', ...strike } as const;
  return run(box, words, input, { world: usualWorld, plan, inTurn });
}

/**
 * Runs the command in a process of its own that nothing disturbs, and copies what a kill would have left at each of these moments.
 * @returns the calls of the run; `put`, which makes one of the copies, by its place among the moments, the content of `box`;
 *   and `remove`, which deletes those that are left
 */
export async function copiesAt(
  box: Sandbox,
  write: Write,
  moments: readonly Moment[],
): Promise<{ readonly calls: readonly Call[]; put(number: number): void; remove(): void }> {
  const into = Sandbox.make();
  const trace = into.at('trace');
  const plan = { root: box.root, watch: 'changes', copies: { moments, into: into.root } } as const;
  const outcome = await run(box, write.words(box), write.input, {
    world: usualWorld,
    plan,
    inTurn: true,
    trace,
  });
  if (outcome.end !== 0) throw new Error(`"${write.name}" ended with ${outcome.end}: ${outcome.stderr}`);
  return {
    calls: JSON.parse(readFileSync(trace, 'utf8')) as readonly Call[],
    put(number) {
      box.remove();
      renameSync(into.at(String(number)), box.root);
    },
    remove: () => into.remove(),
  };
}

/** Runs the command under a limit of the size of files, in blocks of 1,024 bytes. */
export async function runLimited(box: Sandbox, write: Write, blocks: number): Promise<Outcome> {
  // The signal is ignored, so that the write fails instead of ending the process.
  const wrapper = ['bash', '-c', `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`, 'bash'];
  const orders: Orders = { world: usualWorld, plan: { root: box.root, watch: 'changes' } };
  return run(box, write.words(box), write.input, orders, wrapper);
}

/** What a process does that is not disturbed: its calls, and how things look before and after. */
export async function undisturbed(
  write: Write,
  box: Sandbox,
  { inTurn = false } = {},
): Promise<{ readonly calls: readonly Call[]; readonly expected: Expected }> {
  // Elsewhere, since a look leaves traces as well.
  const untouched = box.copy();
  const before = await lookAt(write, untouched);
  untouched.remove();
  const copy = box.copy();
  const trace = copy.at('trace');
  const orders: Orders = {
    world: usualWorld,
    plan: { root: copy.root, watch: 'changes' },
    inTurn,
    trace,
  };
  const { end, stderr } = await run(copy, write.words(copy), write.input, orders);
  if (end !== 0) throw new Error(`"${write.name}" ended with ${end}: ${stderr}`);
  const calls = JSON.parse(readFileSync(trace, 'utf8')) as readonly Call[];
  const after = await lookAt(write, copy);
  if (before === after) throw new Error(`"${write.name}" shows no effect`);
  copy.remove();
  return { calls, expected: { before, after } };
}

/** Starts the command in a process of its own, which stops before each of these calls, and does not outlive the test. */
export function startStopped(box: Sandbox, write: Write, [at = 0, ...then]: readonly number[]): Started {
  const started = start(box, write.words(box), write.input, {
    world: usualWorld,
    plan: { root: box.root, watch: 'changes', at, fault: { kind: 'stop', then } },
    inTurn: true,
  });
  onTestFinished(() => void started.child.kill('SIGKILL'));
  return started;
}

async function run(...command: Parameters<typeof start>): Promise<Outcome> {
  return start(...command).ended;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Outcome>;
}

function start(
  box: Sandbox,
  words: readonly string[],
  input: string | undefined,
  orders: Orders,
  wrapper: readonly string[] = [],
): Started {
  const command = [...wrapper, process.execPath, '--require', inject('preload'), inject('command'), ...words];
  const child = spawn(command[0] ?? '', command.slice(1), {
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
  return { child, ended: promise.then((end) => ({ end, ...output })) };
}
