import { agent } from './agent-target.ts';
import { describeCommands } from './suites/index.ts';

describeCommands(agent);
