import { expect, it } from 'vitest';
import { runChild } from '../../../src/cli/processes/launch.ts';

it('listens for signals before it makes what must be removed after the program', async () => {
  const before = process.listenerCount('SIGTERM');
  let during = 0;
  const ended = await runChild(() => {
    during = process.listenerCount('SIGTERM');
    return { path: '/bin/sh', words: ['sh', '-c', 'exit 7'], environment: {} };
  });
  expect([during - before, process.listenerCount('SIGTERM') - before, ended.exitCode]).toEqual([1, 0, 7]);
});
