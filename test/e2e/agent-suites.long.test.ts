import { agent } from './agent-target.ts';
import { spawned } from './harness.ts';
import { describeAll } from './suites/index.ts';

describeAll(spawned(agent));
