import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unavailable } from '../../ground/errors.ts';
import { withoutOwnSecrets } from '../secrets/secret-variables.ts';

/** Three versions to merge, with the labels of two of them for conflict markers. Bytes are never decoded. */
interface MergeInput {
  readonly base: string | Uint8Array;
  readonly ours: string | Uint8Array;
  readonly theirs: string | Uint8Array;
  readonly labels: readonly [ours: string, theirs: string];
}

export interface Merged {
  readonly bytes: Buffer;
  readonly isClean: boolean;
  /** Whether in every conflict both sides only insert text at the same place. */
  readonly onlyInsertions: boolean;
}

/** Maximum number of conflicts in the exit code of `git merge-file`. */
const MOST_CONFLICTS = 127;

/**
 * Merges by lines with `git merge-file`.
 * @param directory directory for temporary files
 * @param union whether to take both sides of a conflict, one after the other
 * @throws `unavailable` without git
 */
export function mergeFile(input: MergeInput, directory: string, union = false): Merged {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const place = mkdtempSync(join(directory, 'merge-'));
  try {
    const paths = (['ours', 'base', 'theirs'] as const).map((side) => {
      const path = join(place, side);
      writeFileSync(path, input[side], { mode: 0o600 });
      return path;
    });
    const [ours, theirs] = input.labels;
    const run = (...how: readonly string[]) => {
      const labels = ['-L', ours, '-L', 'before', '-L', theirs];
      const { status, stdout, error } = spawnSync('git', ['merge-file', '-p', ...how, ...labels, ...paths], {
        env: withoutOwnSecrets(process.env),
        maxBuffer: 1 << 28,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      if (error !== undefined || status === null || status > MOST_CONFLICTS) {
        throw unavailable('git merge-file failed: cannot merge the changes', { cause: error });
      }
      return { bytes: stdout, isClean: status === 0 };
    };
    if (union) return { ...run('--union'), onlyInsertions: false };
    const merged = run();
    return {
      ...merged,
      onlyInsertions: !merged.isClean && hasOnlyInsertions(run('--diff3').bytes.toString('latin1')),
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Whether no conflict has original text between its markers. */
const hasOnlyInsertions = (text: string): boolean =>
  !/^\|{7} before\r?\n(?!={7}\r?$)/m.test(text) && /^\|{7} before\r?\n={7}\r?$/m.test(text);
