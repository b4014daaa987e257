import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { interruptible } from '../../../src/cli/processes/interruptible.ts';

/** A process that notes the signals that it is to end by. */
class Host extends EventEmitter {
  readonly pid = 17;
  readonly ends: string[] = [];

  kill(pid: number, signal: NodeJS.Signals): void {
    this.ends.push(`${pid} ${signal}`);
  }
}

describe('work that can be interrupted', () => {
  it('is aborted by a signal, and the process ends by the signal once the work has cleaned up', async () => {
    const host = new Host();
    let isCleanedUp = false;
    const running = interruptible(async ({ begin, ended }) => {
      begin();
      const aborted = new Promise((_, reject) => {
        ended.addEventListener('abort', () => reject(ended.reason));
      });
      host.emit('SIGINT', 'SIGINT');
      await aborted.finally(() => {
        isCleanedUp = host.ends.length === 0;
      });
    }, host);
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(isCleanedUp).toBe(true);
    expect(host.ends).toEqual(['17 SIGINT']);
  });

  it('has no handler before it writes, after a first signal, and when it is done', async () => {
    const host = new Host();
    const counts: number[] = [];
    const result = await interruptible(async ({ begin }) => {
      counts.push(host.listenerCount('SIGTERM'));
      begin();
      counts.push(host.listenerCount('SIGTERM'));
      host.emit('SIGTERM', 'SIGTERM');
      counts.push(host.listenerCount('SIGTERM'));
      return 'complete';
    }, host);
    expect(result).toBe('complete');
    expect(counts).toEqual([0, 1, 0]);
    expect(host.ends).toEqual(['17 SIGTERM']);
    await interruptible(async ({ begin }) => begin(), host);
    expect(host.eventNames()).toEqual([]);
    expect(host.ends).toHaveLength(1);
  });
});
