import { spawned } from './harness.ts';
import { server } from './server.ts';
import { describeSome } from './suites/index.ts';

describeSome(spawned(server));
