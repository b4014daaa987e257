import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/command-line.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from '../../e2e/harness.ts';
import { streamsDouble } from '../streams.double.ts';

let here: Place;
beforeAll(async () => {
  here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY, NO_COLOR: '1' });
  await here.ok('init');
});
afterAll(() => removePlace(here));

/** Runs a command on a terminal of that width; in a pipe without one. */
async function shown(line: string, columns = 0): Promise<{ readonly out: string }> {
  const streams = streamsDouble(columns === 0 ? {} : { terminals: ['out', 'err'], columns });
  await runCommandLine(line.split(' '), streams, here.environment());
  return streams.written;
}

describe('a status', () => {
  it('shows the state of the store in brief, and all that is known of it with -o wide', async () => {
    const { out } = await shown('status', 80);
    const rows = out.split('\n').flatMap(
      (line) =>
        line
          .match(/^│ (.+?) +│ (.+?) +│$/)
          ?.slice(1, 3)
          .join(': ') ?? [],
    );
    expect(rows).toEqual([
      `Directory: ${here.file('store')}`,
      'State: unlocked',
      'Unlocked with: master key',
      'Created: just now',
      'Keys: 0',
      'Mounts: 1',
      'Organizations: 0',
    ]);
    expect(out).toContain('More: coffer status -o wide\n');
    for (const field of ['format', 'id', 'files', 'generation', 'revision'])
      expect((await shown('status -o wide', 120)).out).toContain(`│ ${field} `);
    expect((await shown('status')).out).toMatch(
      /^state\tunlocked\nopens with\traw\ndirectory\t.*\nformat\t1\n/,
    );
    const agent = (await shown('agent status', 200)).out;
    expect(agent).toContain('│ State  │ no agent');
    expect(agent).toContain('More: coffer agent status -o wide\n');
    expect((await shown('agent status')).out).toContain('locked\ttrue\n');
  });
});
