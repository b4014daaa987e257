import { usualWorld } from '../layer/fixed-world.ts';
import { wrapFileSystem } from '../layer/functions.ts';
import { arm, disarm, install } from '../layer/layer.ts';
import type { Call, Fault, Plan } from '../layer/plan.ts';
import type { Answer, Sandbox } from '../sandbox.ts';

export interface StruckAnswer extends Answer {
  readonly calls: readonly Call[];
  readonly fired: boolean;
}

export interface Command {
  readonly words: (box: Sandbox) => readonly string[];
  readonly input?: string;
}

/** Runs a command in this process, with a fault at one of its calls; without one, to see which calls there are. */
export async function runStruckHere(
  box: Sandbox,
  command: Command,
  watch: Plan['watch'],
  strike: { readonly at?: number; readonly fault?: Fault } = {},
): Promise<StruckAnswer> {
  install(wrapFileSystem);
  const words = command.words(box);
  const options = { world: usualWorld, input: command.input };
  arm({ root: box.root, watch, ...strike });
  const answer = await box.run(words, options);
  const { calls, fired } = disarm();
  return { ...answer, calls, fired };
}
