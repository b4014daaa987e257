import { server } from './server.ts';
import { describeProcesses } from './suites/index.ts';

describeProcesses(server);
