import { describe, expect, it, vi } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

const record = (time: string, path: string, status = 200): string =>
  `${JSON.stringify({
    time,
    auth: { display_name: 'ada' },
    request: { id: path, operation: 'read', path },
    response: { status },
  })}\n`;

/** Paths of the requests that are shown. */
async function shown(log: string, options: string): Promise<readonly string[]> {
  const out = await DirectoryHere.make().ok(`audit show - ${options} -o json`, { input: log });
  return JSON.parse(out).map(({ path }: { readonly path: string }) => path);
}

describe('the requests that are chosen', () => {
  it('are those from a time on and before another one, to the millisecond', async () => {
    const times = ['21:59:59.999', '22:00:00.000', '22:59:59.999', '23:00:00.000'];
    const log = times.map((time) => record(`2026-11-26T${time}Z`, time)).join('');
    const [since, until] = ['--since 2026-11-26T22:00:00Z', '--until 2026-11-26T23:00:00Z'];
    expect(await shown(log, `${since} ${until}`)).toEqual(times.slice(1, 3));
    expect(await shown(log, since)).toEqual(times.slice(1));
    expect(await shown(log, until)).toEqual(times.slice(0, 3));
  });

  it('are those that failed, from the status 400 on', async () => {
    const log = [200, 399, 400, 500]
      .map((status) => record('2026-11-26T22:00:00Z', `${status}`, status))
      .join('');
    expect(await shown(log, '--failed')).toEqual(['400', '500']);
  });

  it('are those of today, of the last time of a day, and of so many hours, counted from now', async () => {
    vi.useFakeTimers({ now: new Date(2026, 10, 26, 22, 0), toFake: ['Date'] });
    try {
      const at = (day: number, hour: number, minute = 0): string =>
        record(new Date(2026, 10, day, hour, minute).toISOString(), `${day}-${hour}:${minute}`);
      const log = [at(25, 0), at(25, 22), at(25, 23), at(26, 0), at(26, 20), at(26, 21, 59), at(26, 22)].join(
        '',
      );
      expect(await shown(log, '--since today')).toEqual(['26-0:0', '26-20:0', '26-21:59', '26-22:0']);
      expect((await shown(log, '--since yesterday'))[0]).toBe('25-0:0');
      expect(await shown(log, '--since 2h')).toEqual(['26-20:0', '26-21:59', '26-22:0']);
      expect(await shown(log, '--since 22:00')).toEqual(['26-22:0']);
      expect((await shown(log, '--since 22:01'))[0]).toBe('25-23:0');
      expect((await shown(log, '--since 2026-11-26'))[0]).toBe('26-0:0');
    } finally {
      vi.useRealTimers();
    }
  });

  it.each(['0s', '0h', '24:00', '22:60', '2026-13-01', 'soon', ''])('are not chosen by %j', async (time) => {
    const said = await DirectoryHere.make().refused(['audit', 'show', '-', '--since', time], 2);
    expect(said).toContain(`invalid time "${time}"`);
  });

  it('are the last ones of 10,003, and how many are left out is said', async () => {
    const log = Array.from({ length: 10_003 }, (_, index) => record('2026-11-26T22:00:00Z', `${index}`)).join(
      '',
    );
    const { out, err } = await DirectoryHere.make().run('audit show - --last 2 -o raw', {
      input: log,
      terminals: ['err'],
    });
    expect(out.split('\n').map((line) => line.split('\t')[3])).toEqual(['10001', '10002', undefined]);
    expect(err).toContain('Earlier requests left out: 10001');
  });
});
