import { SERVE_WORKER } from '../../src/cli/commands/serve-worker.ts';
import { builtCommand } from '../built.ts';

/** What starts another process of a server under test: the command as it is shipped, which loads in half the time of its sources. */
export const workerCommand = (): readonly string[] => [builtCommand(), SERVE_WORKER];
