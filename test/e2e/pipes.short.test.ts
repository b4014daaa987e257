import { local } from './harness.ts';
import { describeProcesses } from './suites/index.ts';

describeProcesses(local);
