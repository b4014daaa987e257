/**
 * Loaded into a process before the program (`node --require`): puts the fault layer and a fixed world around it, as the
 * environment says. Writes the calls that it saw to a file when the process ends by itself.
 */
import { writeFileSync } from 'node:fs';
import { enter } from './fixed-world.ts';
import { wrapFileSystem } from './functions.ts';
import { arm, disarm, install, judge } from './layer.ts';
import type { Orders } from './plan.ts';

const { world, plan, trace } = JSON.parse(process.env['COFFER_TEST_FAULTS'] ?? '') as Orders;
enter(world);
install(wrapFileSystem);
arm(plan);
process.on('exit', () => {
  judge({ kind: 'exit', path: 'the process' });
  const { calls } = disarm();
  if (trace !== undefined) writeFileSync(trace, JSON.stringify(calls));
});
