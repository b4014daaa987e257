/**
 * Compares Coffer with the programs that users run for the same tasks, in alternating turns of one run: the column of
 * the floor is the peer. Needs `npm run build`; a missing peer is named in its rows (`peer-programs.ts` describes where
 * they are searched).
 *
 * - COFFER_BENCH_QUICK=1: few and short turns, to test the benchmark itself
 */
import type { Row } from './measure.ts';
import { localRows } from './peers-local.ts';
import { servedRows } from './peers-served.ts';

export async function run(): Promise<readonly Row[]> {
  return [...localRows(), ...(await servedRows())];
}
