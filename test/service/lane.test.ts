import { describe, expect, it } from 'vitest';
import { startLane } from '../../src/service/lanes.ts';

const job = { head: { path: 'transit/encrypt/k' }, body: [] };
const turn = (): Promise<string> => new Promise((resolve) => setImmediate(resolve, 'still waiting'));

/** Says of the first call that it is done, and crashes when a request comes. */
const CRASHES_AT_A_REQUEST = `
  const server = process;
  server.once('message', ({ call }) => server.send({ answer: call, value: null }));
  fs.createReadStream('', { fd: 4 }).once('data', () => process.exit(1));
`;

describe('a request that waits for a worker', () => {
  it.each([
    ['ends before it is ready', 'process.exit(0)', 'a server process exited'],
    ['crashes before it is ready', 'process.exit(1)', 'a server process exited'],
    ['is killed before it is ready', "process.kill(process.pid, 'SIGKILL')", 'a server process exited'],
    ['crashes at the request', CRASHES_AT_A_REQUEST, 'the worker for large requests exited'],
  ])('fails as unavailable as soon as the worker %s, as all later ones', async (_how, script, message) => {
    const worker = startLane(['-e', script], { settings: {}, keys: [] });
    const outcome = () =>
      worker.work(job).then(
        () => 'answered',
        (error: unknown) => error,
      );
    const first = outcome();
    await worker.gone;
    expect(await Promise.race([first, turn()])).toMatchObject({ kind: 'unavailable', message });
    expect(await Promise.race([outcome(), turn()])).toMatchObject({ kind: 'unavailable', message });
  });

  it('fails as unavailable when the worker is closed before it is ready', async () => {
    const waits = "const server = process; server.on('message', () => undefined);";
    const worker = startLane(['-e', waits], { settings: {}, keys: [] });
    const outcome = worker.work(job).catch((error: unknown) => error);
    await worker.close();
    expect(await Promise.race([outcome, turn()])).toMatchObject({
      kind: 'unavailable',
      message: 'a server process exited',
    });
  });

  it('fails as unavailable where no worker can be started at all', async () => {
    const worker = startLane(['-e\0'], { settings: {}, keys: [] });
    await expect(worker.work(job)).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'cannot start a worker for large requests',
    });
    await Promise.all([worker.gone, worker.close()]);
  });
});
