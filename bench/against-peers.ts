/**
 * The same jobs done by Coffer and by the programs that people use for them, in turn and in one run: the column of the floor is the
 * peer. Needs `npm run build`; a peer that is not there is named in its rows (`peer-programs.ts` says where they are looked for).
 *
 * - COFFER_BENCH_QUICK=1: few and short turns, to try the benchmark itself
 */
import type { Row } from './measure.ts';
import { localRows } from './peers-local.ts';
import { servedRows } from './peers-served.ts';

export async function run(): Promise<readonly Row[]> {
  return [...localRows(), ...(await servedRows())];
}
