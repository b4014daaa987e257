import { execFileSync } from 'node:child_process';

/**
 * Returns the timestamp for files made from a checkout, in seconds since 1970: SOURCE_DATE_EPOCH, otherwise that of the
 * last commit.
 */
export const epochOf = (root: string): number =>
  Number(
    process.env['SOURCE_DATE_EPOCH'] ??
      execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }),
  );
