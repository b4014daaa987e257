import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SEED } from '../seed.ts';
import { addSum } from '../sums.ts';
import { type Finished, runJobs } from './jobs.ts';
import { targetNamed, targetNames } from './targets/index.ts';

/** So much of what `npm run test:fuzz` tries with one seed. */
const ONE_OF = 200;

let directory = '';
let finished: readonly Promise<Finished>[] = [];
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-fuzz-'));
  const targets = await Promise.all(targetNames.map(targetNamed));
  const jobs = targets.map(({ name, cases }) => ({
    target: name,
    seed: Number(SEED),
    from: 0,
    to: Math.ceil(cases / ONE_OF),
  }));
  finished = runJobs(jobs, directory);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it.each(targetNames.map((name, index) => [name, index] as const))(
  'hostile input to %s ends in no unexpected error, soon, and neither shows a secret nor changes anything',
  async (_, index) => {
    const { job, report, problems } = (await finished[index]) ?? expect.fail('no such job');
    expect(problems).toEqual([]);
    expect(report.cases).toBe(job.to);
    addSum('cases of fuzz', report.cases);
  },
);
