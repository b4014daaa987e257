import { local } from './harness.ts';
import { describeCommands, describeTheSame } from './suites/index.ts';

describeCommands(local);
describeTheSame(local);
