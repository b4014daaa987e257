import { agent } from './agent-target.ts';
import { spawned } from './harness.ts';
import { describeSome } from './suites/index.ts';

describeSome(spawned(agent));
