import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { base64, binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

let place: Place;

beforeAll(async () => {
  place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  await place.ok('init');
  await place.ok('transit keys create bar');
});
afterAll(() => removePlace(place));

/** Resolves once the unfinished output file holds something: the command is in the midst of its work. */
async function begun(name: string): Promise<void> {
  const hasBegun = (): boolean => {
    const unfinished = readdirSync(place.directory).find((entry) => entry.startsWith(`.${name}.`));
    return unfinished !== undefined && statSync(place.file(unfinished)).size > 0;
  };
  await vi.waitUntil(hasBegun, { timeout: 40_000, interval: 10 });
}

describe('a signal that comes together with the end of the input', () => {
  // Ctrl-C ends the producer of a pipe as well. Stopping the command makes both arrive at once.
  it.each([
    ['a batch', ['transit', 'encrypt', 'bar', '--batch', '-'], `{"plaintext":"${base64('a')}"}\n`],
    ['an envelope', ['transit', 'envelope', 'encrypt', 'bar', '--in', '-'], Buffer.alloc(300_000)],
  ] as const)('wins: %s does not pass off what it has as whole', async (_name, words, data) => {
    for (let round = 0; round < 5; round++) {
      const command = spawn(process.execPath, [binary, ...words, '--out', 'cut-short'], {
        cwd: place.directory,
        env: place.environment(),
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const ended = once(command, 'exit');
      // All of it is in the pipe, so that nothing but the end is left to send while nobody reads.
      await new Promise((written) => command.stdin.write(data, written));
      await begun('cut-short');
      command.kill('SIGSTOP');
      command.stdin.end();
      await once(command.stdin, 'close');
      command.kill('SIGINT');
      command.kill('SIGCONT');
      expect(await ended).toEqual([null, 'SIGINT']);
      expect(readdirSync(place.directory).filter((entry) => entry.includes('cut-short'))).toEqual([]);
    }
  });
});
