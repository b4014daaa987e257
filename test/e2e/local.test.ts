import { local } from './harness.ts';
import { describeCommands } from './suites/index.ts';

describeCommands(local);
