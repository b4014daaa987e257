import { local, spawned } from './harness.ts';
import { describeAll } from './suites/index.ts';

describeAll(spawned(local));
