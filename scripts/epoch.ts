import { execFileSync } from 'node:child_process';

/** The time that is written into what is made of a checkout, in seconds since 1970: SOURCE_DATE_EPOCH, else that of the last commit. */
export const epochOf = (root: string): number =>
  Number(
    process.env['SOURCE_DATE_EPOCH'] ??
      execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }),
  );
