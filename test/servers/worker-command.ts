import { fileURLToPath } from 'node:url';

/** A program that becomes a worker of the server under test. */
export const WORKER_COMMAND: readonly string[] = [
  fileURLToPath(new URL('worker-program.ts', import.meta.url)),
];

/** Where programs under test find the master key. */
export const MASTER_KEY_VARIABLE = 'TEST_MASTER_KEY';
