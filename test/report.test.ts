import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { TestCase, TestModule } from 'vitest/node';
import { isDaily, isLong } from './long.ts';
import { Report } from './report.ts';
import { daily, sampled } from './sampled.ts';
import { SEED } from './seed.ts';
import { seeded } from './seeded.ts';

/** A file as vitest tells of it, with one test. */
function file(path: string, fullName: string, state: 'failed' | 'passed', milliseconds: number): TestModule {
  const module = {
    moduleId: `${process.cwd()}/${path}`,
    ok: () => state === 'passed',
    children: { allTests: () => [test] },
    diagnostic: () => ({ prepareDuration: 0, setupDuration: 0, collectDuration: 0, duration: milliseconds }),
  } as unknown as TestModule;
  const test = { fullName, module, result: () => ({ state }) } as unknown as TestCase;
  return module;
}

/** What a run of these files says in the end. */
function said(...files: readonly TestModule[]): readonly string[] {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const report = new Report();
  report.onTestRunStart();
  report.onTestRunEnd(files, []);
  vi.restoreAllMocks();
  return lines.map((line) => line.trimEnd());
}

describe('the report of a run', () => {
  afterEach(() => vi.restoreAllMocks());

  it('has for each failed test the one line that repeats it, which a shell and vitest take for what it is', () => {
    const lines = said(
      file('test/a.test.ts', "keeps 2^3 (of 'em) > all", 'failed', 5),
      file('test/b.test.ts', 'is', 'passed', 5),
    );
    const long = `${isLong ? 'LONG=1 ' : ''}${isDaily ? 'ONLY_LONGER=1 ' : ''}`;
    expect(lines.filter((line) => line.startsWith('to repeat'))).toEqual([
      `to repeat: COFFER_TEST_SEED=${SEED} ${long}npx vitest run test/a.test.ts -t '^keeps 2\\^3 \\(of '\\''em\\) > all$'`,
    ]);
  });

  it('names the files that took longer than their share, the longest first', () => {
    const lines = said(
      file('test/quick.test.ts', 'is quick', 'passed', 9_900),
      file('test/slow.test.ts', 'is slow', 'passed', 10_100),
      file('test/slower.test.ts', 'is slower', 'passed', 60_000),
    );
    expect(lines.slice(0, -1)).toEqual([
      'over 10 s: test/slower.test.ts took 60.0 s',
      'over 10 s: test/slow.test.ts took 10.1 s',
    ]);
    expect(lines.at(-1)).toContain('3 files in');
  });
});

describe('the seed of a run', () => {
  it('is what fast-check draws from', () => {
    expect(fc.readConfigureGlobal().seed).toBe(Number(SEED));
    const draw = (): number[] => fc.sample(fc.integer(), 5);
    expect(draw()).toEqual(draw());
  });

  it('is what a test and each of its parts draw from', () => {
    const draw = (part?: string): number => seeded(part).below(2 ** 31);
    expect(draw()).toBe(draw());
    expect(draw('one')).toBe(draw('one'));
    expect(draw('one')).not.toBe(draw('another'));
  });
});

describe('the cases of a run', () => {
  it('are all in the long proof, two of each three in that of a day, else one of ten, drawn by the seed', () => {
    const all = [...Array(90).keys()];
    const part = isDaily ? 60 : 90;
    expect(daily(all, seeded())).toHaveLength(part);
    expect(sampled(all, seeded())).toHaveLength(isLong ? part : 9);
    for (const few of [[], [1], [1, 2]]) expect(daily(few, seeded())).toEqual(few);
    if (isDaily) {
      const drawn = Array.from({ length: 30 }, (_, round) => daily(all, seeded(`${round}`)));
      expect(new Set(drawn.flat())).toEqual(new Set(all));
    }
  });
});
