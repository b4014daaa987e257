import { afterEach, describe, expect, it, vi } from 'vitest';
import { carryOut } from '../../src/cli/tags/in-calls.ts';
import { TransferProgress } from '../../src/cli/terminal/progress.ts';

/** A session at a terminal, and what it wrote there. */
function atTerminal() {
  const written: string[] = [];
  const err = { isTerminal: true, columns: 110, write: (text: string) => written.push(text) };
  const session = { streams: { err, out: { isTerminal: true } }, settings: { quiet: false } };
  return { session: session as never, written };
}

const kills = vi.spyOn(process, 'kill').mockReturnValue(true);
const listening = () => process.listenerCount('SIGINT');
const before = listening();

afterEach(() => {
  kills.mockClear();
  process.removeAllListeners('SIGINT');
});

describe('Ctrl-C while a progress line is shown', () => {
  it('erases the line, tells what is done, and ends the process as by default', async () => {
    const { session, written } = atTerminal();
    const pieces = [
      { count: 3, run: async () => undefined },
      { count: 4, run: async () => process.emit('SIGINT') },
    ];
    await carryOut(session, 'tags', pieces);
    expect(written.slice(-2)).toEqual([
      '\r\x1b[K',
      'Cancelled. At least 3 of 7 tags are done (run the same command again to do the rest).\n',
    ]);
    expect(kills.mock.calls).toEqual([[process.pid, 'SIGINT']]);
    expect(listening()).toBe(before);
  });

  it('leaves the end of the process to what removes an unfinished file', () => {
    const { session, written } = atTerminal();
    const removing = vi.fn();
    process.on('SIGINT', removing);
    const progress = new TransferProgress(
      session,
      2 ** 30,
      false,
      () => 'Cancelled; no unfinished file was left behind.',
    );
    progress.add(2 ** 20);
    process.emit('SIGINT');
    progress.close();
    expect(written.slice(-2)).toEqual(['\r\x1b[K', 'Cancelled; no unfinished file was left behind.\n']);
    expect([removing.mock.calls.length, kills.mock.calls.length]).toEqual([1, 0]);
  });

  it('is not listened for before there is progress, and after it has ended', () => {
    const { session } = atTerminal();
    const progress = new TransferProgress(session, 10, false);
    progress.add(5);
    expect(listening()).toBe(before);
    const large = new TransferProgress(session, 2 ** 30, false);
    large.add(2 ** 20);
    expect(listening()).toBe(before + 1);
    large.close();
    expect(listening()).toBe(before);
  });
});

describe('a progress line that has ended', () => {
  it('is not drawn again by what was read ahead, such as when the reader of the output is gone', () => {
    const { session, written } = atTerminal();
    const uptime = vi.spyOn(process, 'uptime').mockReturnValue(998);
    const progress = new TransferProgress(session, 2 ** 30, false);
    progress.add(2 ** 20);
    uptime.mockReturnValue(1000);
    progress.add(2 ** 20);
    progress.erase();
    uptime.mockReturnValue(1001);
    progress.add(2 ** 20);
    expect(written.at(-1)).toContain('of 1.0 GiB');
    progress.close();
    uptime.mockReturnValue(1002);
    progress.add(2 ** 20);
    expect(written.at(-1)).toBe('\r\x1b[K');
    expect(listening()).toBe(before);
    uptime.mockRestore();
  });
});

describe('a progress line', () => {
  it('is drawn only if the job takes longer than a second, and then several times per second', () => {
    const { session, written } = atTerminal();
    const uptime = vi.spyOn(process, 'uptime');
    const drawnAfter = (seconds: number, progress: { add: (bytes: number) => void }) => {
      uptime.mockReturnValue(1000 + seconds);
      progress.add(2 ** 20);
      return written.length;
    };
    const short = new TransferProgress(session, 2 ** 30, false);
    expect([0, 0.4, 0.9].map((seconds) => drawnAfter(seconds, short))).toEqual([0, 0, 0]);
    short.close();
    expect(written).toEqual([]);
    // The time before the first progress, such as that of a question, does not count.
    const long = new TransferProgress(session, 2 ** 30, false);
    expect([10, 10.9, 11.1, 11.15, 11.3].map((seconds) => drawnAfter(seconds, long))).toEqual([
      0, 0, 1, 1, 2,
    ]);
    long.close();
    expect(written.at(-1)).toBe('\r\x1b[K');
    uptime.mockRestore();
  });
});
