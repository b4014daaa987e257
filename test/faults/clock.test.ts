import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sampled } from '../sampled.ts';
import { seeded } from '../seeded.ts';
import { THEN } from './layer/fixed-world.ts';
import { ailments, pictureOf } from './picture.ts';
import type { Answer, Sandbox } from './sandbox.ts';
import { Tally } from './tally.ts';
import { usualTemplate } from './template.ts';

const template = usualTemplate();

const HOUR = 3_600_000;
const YEAR = 365.25 * 24 * HOUR;
/** Where clocks end up: at the beginning of time, ten years off, at the end of 32 bits, far away. */
const TIMES: Readonly<Record<string, number>> = {
  'in 1970': 0,
  'ten years back': THEN - 10 * YEAR,
  'a minute back': THEN - 60_000,
  'right again': THEN,
  'in 2038, beyond 32 bits': Date.UTC(2038, 0, 19, 3, 14, 8),
  'in 9999': Date.UTC(9999, 11, 31, 23, 59, 59),
};
const jumps = Object.entries(TIMES);

let seed = 100;

/** Runs a command while the clock shows these times, one after the other, and the last for good. */
async function at(box: Sandbox, clock: number | readonly number[], line: string): Promise<Answer> {
  return box.run(line.split(' '), {
    world: { seed: seed++, clock: typeof clock === 'number' ? [clock] : clock },
  });
}

async function okAt(box: Sandbox, clock: number | readonly number[], line: string): Promise<string> {
  const answer = await at(box, clock, line);
  expect({ line, ...answer }).toMatchObject({ line, exitCode: 0 });
  return answer.stdout.trim();
}

async function versionsOf(box: Sandbox, key: string): Promise<readonly number[]> {
  const { keys } = JSON.parse(await box.ok(['transit', 'keys', 'read', key, '-o', 'json'])) as {
    keys: object;
  };
  return Object.keys(keys).map(Number);
}

/** Tries each jump from each: before a command, and in the midst of one, however often it looks at the clock. */
async function eachJump(tally: Tally, check: (clock: readonly number[]) => Promise<void>): Promise<void> {
  const all = jumps.flatMap((start) =>
    jumps.flatMap((end) => [0, 1, 2].map((looks) => [start, end, looks] as const)),
  );
  for (const [[from, start], [to, end], looks] of sampled(all, seeded())) {
    const clock = [...Array.from({ length: looks }, () => start), end];
    await tally.after(`from ${from} to ${to} after ${looks} looks`, () => check(clock));
  }
}

describe('a clock that jumps', () => {
  it('gives versions in the order of rotation, without a gap, and all of them decrypt', async () => {
    const box = template().copy();
    const tally = new Tally();
    const ciphertexts: string[] = [];
    let latest = 2;
    await eachJump(tally, async (clock) => {
      await okAt(box, clock, 'transit keys rotate letters');
      latest++;
      expect(await versionsOf(box, 'letters')).toEqual(Array.from({ length: latest }, (_, i) => i + 1));
      const ciphertext = await okAt(box, clock, `transit encrypt letters text-${latest}`);
      expect(ciphertext).toMatch(new RegExp(`^service:v${latest}:`));
      ciphertexts.push(ciphertext);
    });
    const decrypted = await Promise.all(
      ciphertexts.slice(0, 20).map((text) => box.ok(['transit', 'decrypt', 'letters', text])),
    );
    expect(decrypted).toEqual(ciphertexts.slice(0, 20).map((_, i) => `text-${i + 3}`));
    expect(await ailments(box.store)).toEqual([]);
    box.remove();
    tally.settle();
  });

  it('adds one version at most when a key rotates by itself', async () => {
    const tally = new Tally();
    await eachJump(tally, async (clock) => {
      const box = template().copy();
      await okAt(box, THEN, 'transit keys config letters --auto-rotate-period 24h');
      await okAt(box, clock, 'transit encrypt letters x');
      const once = (await versionsOf(box, 'letters')).length;
      expect(once === 2 || once === 3).toBe(true);
      const later = (clock.at(-1) ?? 0) - THEN > 24 * HOUR;
      if (clock.length === 1) expect(once).toBe(later ? 3 : 2);
      await okAt(box, clock.slice(-1), 'transit encrypt letters x');
      expect((await versionsOf(box, 'letters')).length).toBeLessThanOrEqual(
        once + (clock.length > 1 ? 1 : 0),
      );
      box.remove();
    });
    tally.settle();
  });

  it('lets a key that was made in the future rotate by itself again after one rotation by hand', async () => {
    const box = template().copy();
    const tally = new Tally();
    await okAt(box, THEN + 10 * YEAR, 'transit keys create ahead --auto-rotate-period 24h');
    await tally.after('ten years ahead, then right again', async () => {
      await okAt(box, THEN, 'transit encrypt ahead x');
      expect(await versionsOf(box, 'ahead')).toEqual([1]);
      await okAt(box, THEN, 'transit keys rotate ahead');
      await okAt(box, THEN + 25 * HOUR, 'transit encrypt ahead x');
      expect(await versionsOf(box, 'ahead')).toEqual([1, 2, 3]);
    });
    tally.settle();
    box.remove();
  });

  it('ends a token when it was to end, by whatever clock, and never shows a negative life', async () => {
    const box = template().copy();
    const tally = new Tally();
    await eachJump(tally, async (clock) => {
      const token = await okAt(box, clock, 'token create --policy senders --ttl 1h');
      const made = JSON.parse(
        await at(box, clock.at(-1) ?? 0, `token lookup ${token} -o json`).then((a) => a.stdout || '{}'),
      );
      for (const [, now] of jumps) {
        const { exitCode, stdout, stderr } = await at(box, now, `token lookup ${token} -o json`);
        if (exitCode !== 0) {
          expect(stderr).toMatch(/^coffer: (?!unexpected)[^\n]+\n$/);
          continue;
        }
        const { ttl, creation_time: created } = JSON.parse(stdout) as { ttl: number; creation_time: number };
        expect(ttl).toBeGreaterThan(0);
        expect(Math.abs(Math.floor(now / 1000) + ttl - (created + 3600))).toBeLessThanOrEqual(1);
        if (made.ttl !== undefined) expect(created).toBe(made.creation_time);
      }
    });
    expect(await ailments(box.store)).toEqual([]);
    tally.settle();
    box.remove();
  });

  it('hinders neither backup, restore, copy, rekey, slots nor tags', async () => {
    const box = template().copy();
    const tally = new Tally();
    let round = 0;
    await eachJump(tally, async (clock) => {
      const copy = box.copy();
      const name = `r${round++}`;
      for (const line of [
        `store backup ${copy.at('b')}`,
        `store restore ${copy.at('b')} --store ${copy.at('restored')}`,
        `store copy ${copy.store} ${copy.at('copied')}`,
      ]) {
        await okAt(copy, clock, line);
      }
      expect(await pictureOf(copy.at('restored'))).toBe(await pictureOf(copy.store));
      expect(await pictureOf(copy.at('copied'))).toBe(await pictureOf(copy.store));
      for (const line of [
        'rekey',
        'slots add --raw',
        `tags create ${name}`,
        `workspaces create ${name} --tag red`,
      ]) {
        await okAt(copy, clock, line);
      }
      expect(
        await okAt(copy, clock, `transit decrypt letters ${readFileSync(copy.at('ciphertext'), 'utf8')}`),
      ).toBe('a small secret');
      expect(await ailments(copy.store)).toEqual([]);
      copy.remove();
    });
    tally.settle();
    box.remove();
  });
});
