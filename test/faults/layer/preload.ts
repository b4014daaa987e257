/**
 * Loaded into a process before the program (`node --require`): puts the fault layer and a fixed world around it, as the
 * environment says. Writes the calls that it saw to a file when the process ends by itself.
 */
import { writeFileSync } from 'node:fs';
import { enter } from './fixed-world.ts';
import { wrapFileSystem } from './functions.ts';
import { arm, disarm, install, judge, type Observer } from './layer.ts';
import type { Orders } from './plan.ts';

/** Of somebody who only wants everything to be done in turn. */
const quiet: Observer = { begun: () => undefined, done: () => undefined };

const { world, plan, inTurn, trace } = JSON.parse(process.env['COFFER_TEST_FAULTS'] ?? '') as Orders;
enter(world);
install(wrapFileSystem);
if (inTurn === true) stopClocks();
arm(plan, inTurn === true ? quiet : undefined);
process.on('exit', () => {
  judge({ kind: 'exit', path: 'the process' });
  const { calls } = disarm();
  if (trace !== undefined) writeFileSync(trace, JSON.stringify(calls));
});

/** The time for which a process stands still does not count for it. */
function stopClocks(): void {
  let looks = 0;
  process.uptime = () => looks++ / 1000;
  const { setTimeout: plain } = globalThis;
  const later = (work: () => void, ms: number) => plain(work, ms < 1000 ? ms : ms * 1000);
  Object.assign(globalThis, { setTimeout: later });
}
