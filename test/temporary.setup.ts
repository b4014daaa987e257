import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isAbandoned } from './abandoned.ts';
import { isLong } from './long.ts';

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm';
/** Bytes: three times what `npm test` takes at most at any time. */
const ENOUGH = 2 * 1024 ** 3;
/** File of such a directory, with the ID of the process of its run. */
const RUN = 'coffer-tests.pid';

/**
 * Temporary directories of `npm test` lie in memory where there is enough of it: a tenth of the run is what a file system on a disk
 * does for 10,000 short stores. The long proof uses the disk, and so does whoever sets TMPDIR.
 */
export default function setup(): (() => void) | undefined {
  if (isLong || process.env['TMPDIR'] !== undefined) return undefined;
  const directory = inMemory();
  if (directory === undefined) return undefined;
  process.env['TMPDIR'] = directory;
  return () => {
    delete process.env['TMPDIR'];
    rmSync(directory, { recursive: true, force: true });
  };
}

/** A new directory in memory, or `undefined` where there is too little or programs can't be run from it (as in most containers). */
function inMemory(): string | undefined {
  try {
    accessSync(MEMORY, constants.W_OK);
    removeAbandoned();
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH) return undefined;
  } catch {
    return undefined;
  }
  // Short, as paths of sockets are, and without capitals, which take more room in them; open to all users as /tmp is, as some tests run
  // a command as another one.
  const directory = join(MEMORY, `c${randomBytes(3).toString('hex')}`);
  mkdirSync(directory);
  chmodSync(directory, 0o1777);
  writeFileSync(join(directory, RUN), `${process.pid}`);
  const program = join(directory, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  if (spawnSync(program).status === 0) return directory;
  rmSync(directory, { recursive: true, force: true });
  return undefined;
}

/** Removes what killed runs have left: it would take memory until the machine is started anew. */
function removeAbandoned(): void {
  for (const name of readdirSync(MEMORY)) {
    const directory = join(MEMORY, name);
    if (!isAbandoned(join(directory, RUN))) continue;
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // Another user's, or something is still mounted there.
    }
  }
}
