import { type FileHandle, open, rm } from 'node:fs/promises';
import { invalid } from '../../ground/errors.ts';
import { type BackupSource, mayBeginBackup } from '../../store/administration/backup-file.ts';
import { diskError, ELSEWHERE } from '../../store/backends/files/disk-errors.ts';
import type { Session } from '../session.ts';
import { chunksOf } from '../terminal/streams.ts';
import { heldBackupPath } from './backup-out.ts';

/** File name that stands for standard input. */
const STANDARD_INPUT = '-';
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
  if (path !== STANDARD_INPUT) return work(path);
  if (session.streams.in.isTerminal)
    throw invalid('a backup cannot be read from a terminal', {
      hint: 'use the name of a file, or a pipe, instead of -',
    });
  const held = heldBackupPath();
  const file = await create(held);
  try {
    let beginning = Buffer.alloc(0);
    for await (const chunk of chunksOf(session.streams.in)) {
      await append(file, chunk, held);
      if (beginning.length < FEW_BYTES) beginning = Buffer.concat([beginning, chunk]).subarray(0, FEW_BYTES);
      // Whatever else is piped in may never end, and would fill the disk.
      if (!mayBeginBackup(beginning)) break;
    }
    return await work({ file, name: NAME });
  } finally {
    await file.close();
  }
}

async function create(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, 'wx+', OWNER_ONLY);
    await rm(path, { force: true });
    return file;
  } catch (error) {
    throw diskError(error, 'create', path, ELSEWHERE);
  }
}

async function append(file: FileHandle, chunk: Uint8Array, path: string): Promise<void> {
  try {
    await file.writeFile(chunk);
  } catch (error) {
    throw diskError(error, 'write', path);
  }
}
