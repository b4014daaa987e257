import { agent } from './agent-target.ts';
import { spawned } from './harness.ts';
import { describeCommands, describeSome } from './suites/index.ts';

describeCommands(agent);
describeSome(spawned(agent));
