import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { invalid, unavailable, withOtherHint } from '../../ground/errors.ts';
import type { Session } from '../session.ts';
import { ClosedPipe, chunksOf } from '../terminal/streams.ts';
import { openInFile } from './in-file.ts';
import { binaryRefused } from './output.ts';

/** File name that stands for standard output. */
export const STANDARD_OUTPUT = '-';

/** Returns a path for a backup that is complete before the first byte goes to standard output. */
export const heldBackupPath = (): string =>
  join(tmpdir(), `coffer-${randomBytes(16).toString('hex')}.backup`);

/** @throws `invalid` if standard output is a terminal */
export function refuseTerminal({ streams }: Session): void {
  if (streams.out.isTerminal)
    throw withOtherHint(binaryRefused(), 'use the name of a file, or a pipe, instead of -');
}

/**
 * Opens a file that has no name any more when this returns, so nothing has to be removed after it.
 * @returns function that writes it to standard output
 * @see docs/decisions/0118
 */
export function takeHeld(path: string): (session: Session) => Promise<void> {
  const file = openInFile(path, 'FILE');
  rmSync(path, { force: true });
  return async ({ streams }) => {
    try {
      for await (const chunk of chunksOf(file)) await streams.out.writeLater(chunk);
    } catch (error) {
      if (!(error instanceof ClosedPipe)) throw error;
      throw unavailable('standard output was closed before the backup was written', {
        hint: 'check where standard output goes and retry',
      });
    } finally {
      file.close();
    }
  };
}

/** @throws `invalid` for the name that stands for standard output, where only a file will do */
export function refuseStandardOutput(path: string | undefined, field: string): void {
  if (path !== STANDARD_OUTPUT) return;
  throw invalid('standard output cannot be used here', {
    field,
    hint: 'use the name of a file; ./- for a file with this name',
  });
}
