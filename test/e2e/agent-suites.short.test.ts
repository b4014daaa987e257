import { agent } from './agent-target.ts';
import { describeSomeCommands } from './suites/index.ts';

describeSomeCommands(agent);
