import { server } from './server.ts';
import { describeCommands } from './suites/index.ts';

describeCommands(server);
