import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { conflict, failedAfter, placed } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import type { Backend, Blob, Version } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { diskError } from '../backends/files/disk-errors.ts';
import { isThere, moveFile, syncDirectory } from '../backends/files/durable-files.ts';
import { createAt, withBackendAt } from '../backends/registry.ts';
import { everyRef, readConsistently, readEvery } from '../backends/whole-store.ts';
import { parseChecked, printChecked } from '../checked-json.ts';
import { parseHeader, readHeader } from '../header.ts';
import { type BackupRecord, BackupWriter, damagedBackup, readBackupFile } from './backup-file.ts';

export interface BackupSummary {
  /** The store's id. */
  readonly id: string;
  /** Slots and sealed blobs. */
  readonly files: number;
  /** Size of the backup. */
  readonly bytes: number;
}

/**
 * Writes the whole store, as it is at one moment, to one file (0600, whole or not at all). Needs no key: everything
 * stays sealed, and the keys that open it are those of this moment. Others may write meanwhile.
 * @throws `conflict` when `to` exists.
 */
export async function backupStore({
  location,
  to,
}: {
  location: Location;
  to: string;
}): Promise<BackupSummary> {
  return withBackendAt(location, (backend) => backup(backend, to));
}

async function backup(backend: Backend, to: string): Promise<BackupSummary> {
  const { id } = await readHeader(backend);
  if (isThere(to))
    throw conflict(placed`${{ file: to }} exists already`, { hint: 'give another file, or delete it first' });
  const partial = `${to}.${systemRandom.bytes(4).toString('hex')}.new`;
  try {
    const written = await readConsistently(backend, (version, view) => writeBackup(view, version, partial));
    moveFile(partial, to);
    await syncDirectory(dirname(to)).catch((error: unknown) => takeBack(to, error));
    return { id, ...written };
  } catch (error) {
    // Why it failed is worth more than why the rest of it stays.
    await rm(partial, { force: true }).catch(() => undefined);
    throw diskError(error, 'write', to);
  }
}

/** What may be gone after a power cut is no backup, and would be in the way of the next one. */
async function takeBack(to: string, why: unknown): Promise<never> {
  try {
    await rm(to);
  } catch {
    throw failedAfter(
      'the backup is made',
      why,
      'it is whole, but may be gone after a power cut: copy it, or make another',
    );
  }
  throw why;
}

async function writeBackup(
  backend: Backend,
  version: Version,
  path: string,
): Promise<{ files: number; bytes: number }> {
  await rm(path, { force: true });
  const writer = await BackupWriter.create(path);
  try {
    await writer.write({ kind: 'info', bytes: printChecked({ ...version }) });
    await writer.write({ kind: 'header', bytes: Buffer.from(await backend.header()) });
    const refs = await everyRef(backend, version);
    for await (const { ref, bytes } of readEvery(backend, version, refs)) {
      await writer.write({ kind: 'blob', ref, bytes: Buffer.from(bytes) });
    }
    await writer.finish();
    return { files: refs.length, bytes: writer.bytes };
  } finally {
    await writer.close();
  }
}

/**
 * Brings a backup back to a place where nothing is: a directory, or `postgres://…`. The keys are those of the time of
 * the backup.
 * @throws `conflict` when the place isn't empty; `corrupt` when the backup is damaged or newer, and then nothing
 * is left behind.
 */
export async function restoreStore({
  from,
  location,
}: {
  from: string;
  location: Location;
}): Promise<BackupSummary> {
  const records = readBackupFile(from);
  try {
    const version = parseInfo(await nextOf(records, 'info', from), from);
    const header = await nextOf(records, 'header', from);
    const { id } = parseHeader(header, { file: from });
    const counted = { files: 0, bytes: 0 };
    await createAt(location, { header, version, blobs: blobsOf(records, counted, from) });
    return { id, ...counted };
  } finally {
    await records.return(undefined);
  }
}

async function* blobsOf(
  records: AsyncGenerator<BackupRecord>,
  counted: { files: number; bytes: number },
  from: string,
): AsyncGenerator<Blob> {
  for await (const record of records) {
    if (record.kind !== 'blob') throw damagedBackup(from);
    counted.files++;
    counted.bytes += record.bytes.length;
    yield record;
  }
}

async function nextOf(
  records: AsyncGenerator<BackupRecord>,
  kind: 'info' | 'header',
  from: string,
): Promise<Buffer> {
  const next = await records.next();
  if (next.done === true || next.value.kind !== kind) throw damagedBackup(from);
  return next.value.bytes;
}

function parseInfo(bytes: Buffer, from: string): Version {
  const { generation, revision } = parseChecked(bytes) ?? {};
  if (!isCount(generation, 1, 1e10) || !isCount(revision, 0, 1e15)) throw damagedBackup(from);
  return { generation, revision };
}

/** Files and directories of a store are named after these, with so many digits at most. */
const isCount = (value: unknown, least: number, below: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) < below;
