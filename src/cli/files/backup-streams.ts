import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closing, invalid, throwing, unavailable, withOtherHint } from '../../ground/errors.ts';
import { type BackupSource, mayBeginBackup } from '../../store/administration/backup-file.ts';
import { diskError, ELSEWHERE } from '../../store/backends/files/disk-errors.ts';
import type { Session } from '../session.ts';
import { ClosedPipe, chunksOf } from '../terminal/streams.ts';
import { openInFile } from './in-file.ts';
import { STANDARD } from './input.ts';
import { binaryRefused } from './output.ts';

/** Returns a path for a backup that is complete before the first byte goes to standard output. */
export const heldBackupPath = (): string =>
  join(tmpdir(), `coffer-${randomBytes(16).toString('hex')}.backup`);

/** @throws `invalid` if standard output is a terminal */
export function refuseTerminal({ streams }: Session): void {
  if (streams.out.isTerminal)
    throw withOtherHint(
      binaryRefused(),
      'use the name of a file instead of -, or pipe the output into a program',
    );
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

const NAME = 'standard input';
const OWNER_ONLY = 0o600;
/** Bytes that tell a backup from something else; it may come in smaller pieces. */
const FEW_BYTES = 16;

/**
 * Runs work on a backup that may come from standard input. That is first copied to a file, since a backup is verified
 * to its end before the store is created. The file has no name any more while it is written, so nothing is left behind
 * even if the process is killed; its content is sealed.
 * @throws `invalid` if standard input is a terminal
 * @see docs/decisions/0118
 */
export async function withBackupFrom<T>(
  session: Session,
  path: string,
  work: (from: BackupSource) => Promise<T>,
): Promise<T> {
  if (path !== STANDARD) return work(path);
  if (session.streams.in.isTerminal)
    throw invalid('a backup cannot be read from a terminal', {
      hint: 'use the name of a file instead of -, or pipe the backup in',
    });
  const held = heldBackupPath();
  return closing(
    await create(held).catch(throwing((error) => diskError(error, 'create', held, ELSEWHERE))),
    async (file) => {
      let beginning = Buffer.alloc(0);
      for await (const chunk of chunksOf(session.streams.in)) {
        await file.writeFile(chunk).catch(throwing((error) => diskError(error, 'write', held)));
        if (beginning.length < FEW_BYTES)
          beginning = Buffer.concat([beginning, chunk]).subarray(0, FEW_BYTES);
        // Whatever else is piped in may never end, and would fill the disk.
        if (!mayBeginBackup(beginning)) break;
      }
      return work({ file, name: NAME });
    },
  );
}

async function create(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', OWNER_ONLY);
  await rm(path, { force: true });
  return file;
}
