import { spawned } from './harness.ts';
import { server } from './server.ts';
import { describeAll } from './suites/index.ts';

describeAll(spawned(server));
