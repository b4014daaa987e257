import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SEED } from '../seed.ts';
import { addSum } from '../sums.ts';
import { runJob } from './jobs.ts';
import { targetNamed, targetNames } from './targets/index.ts';

/** So much of what `npm run test:fuzz` tries with one seed. */
const ONE_OF = 100;

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-fuzz-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it.each(targetNames)(
  'hostile input to %s ends in no unexpected error, soon, and neither shows a secret nor changes anything',
  async (name) => {
    const { cases } = await targetNamed(name);
    const job = { target: name, seed: Number(SEED), from: 0, to: Math.ceil(cases / ONE_OF) };
    const { report, problems } = await runJob(job, directory);
    expect(problems).toEqual([]);
    expect(report.cases).toBe(job.to);
    addSum('cases of fuzz', report.cases);
  },
);
