import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { closing, exists, failedAfter, placed, unavailable } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import type { Backend, Blob, InitialContent, Version } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { diskError } from '../backends/files/disk-errors.ts';
import { isThere, moveFile, syncDirectory } from '../backends/files/durable-files.ts';
import { MemoryBackend } from '../backends/memory.ts';
import { createAt, withBackendAt } from '../backends/registry.ts';
import { readConsistently, readEvery } from '../backends/whole-store.ts';
import { parseChecked, printChecked } from '../checked-json.ts';
import { parseHeader, readHeader } from '../header.ts';
import type { RootKey } from '../root-key.ts';
import type { Keyring } from '../slots/slot-list.ts';
import { type Credential, unlock } from '../slots/unlock.ts';
import {
  type BackupRecord,
  type BackupSource,
  BackupWriter,
  damagedBackup,
  nameOf,
  readBackupFile,
} from './backup-file.ts';
import { refuseStoreAt } from './init.ts';
import type { Finding } from './status.ts';
import {
  counted,
  leftOutOf,
  type StoreSource,
  sourceOf,
  type VerifyOptions,
  verifiedBlobs,
} from './verified.ts';

interface BackupSummary {
  /** Store ID. */
  readonly id: string;
  /** Number of files: slots and sealed blobs. */
  readonly files: number;
  /** Size of the backup, in bytes. */
  readonly bytes: number;
  /** Damaged or missing files that the backup does not contain. */
  readonly leftOut?: readonly Finding[];
}

/** Interruption of work that writes files: nothing is left behind then. */
export interface Interruption {
  /** Called when the first file is about to be written; until then the process can simply end. */
  begin(): void;
  /** Aborted to give up. */
  readonly ended: AbortSignal;
}

interface Abortable {
  readonly interruption?: Interruption | undefined;
}

interface BackupOptions extends VerifyOptions, Abortable {
  readonly location: Location;
  readonly to: string;
  /** Whether an existing file may be replaced. */
  readonly replace?: boolean;
}

/**
 * Writes a consistent snapshot of the whole store to one file (mode 0600), atomically. Everything stays sealed, and the
 * backup opens with the keys of that moment. Other processes may write to the store at the same time.
 * @throws `exists` if `to` exists and must not be replaced; `DamageError` if the store is damaged or incomplete;
 * `sealed` and `denied` as `openStore`
 * @see docs/decisions/0118
 */
export const backupStore = (options: BackupOptions): Promise<BackupSummary> =>
  withBackendAt(options.location, (backend) => backup(backend, options));

async function backup(backend: Backend, options: BackupOptions): Promise<BackupSummary> {
  const { to, credentials, replace = false } = options;
  const { id } = await readHeader(backend);
  requireDirectory(to);
  if (!replace) refuseExisting(to);
  const keyring = credentials === undefined ? undefined : await unlock(backend, id, credentials);
  const partial = `${to}.${systemRandom.bytes(UNFINISHED_BYTES).toString('hex')}.new`;
  try {
    const written = await readConsistently(backend, (version) =>
      writeBackup(backend, version, keyring, { ...options, path: partial }),
    );
    if (!replace) refuseExisting(to);
    moveFile(partial, to);
    await syncDirectory(dirname(to)).catch((error: unknown) =>
      replace ? mayBeGone(error) : takeBack(to, error),
    );
    return { id, ...written };
  } catch (error) {
    // The original error matters more than a failure to remove the partial file.
    await rm(partial, { force: true }).catch(() => undefined);
    throw options.interruption?.ended.aborted ? error : diskError(error, 'write', to);
  }
}

/** Length of the random part of the name of a backup that is being written, in bytes. */
const UNFINISHED_BYTES = 4;

/** Whether a file has the name of a backup that is being written, or was when its process was killed. */
export const isUnfinishedOf = (name: string, complete: string): boolean =>
  name.startsWith(`${complete}.`) && /^[0-9a-f]{8}\.new$/.test(name.slice(complete.length + 1));

/** Refuses a file whose directory does not exist, before the store is unlocked. */
function requireDirectory(to: string): void {
  const directory = dirname(to);
  if (isThere(directory)) return;
  throw unavailable(
    placed`cannot write ${{ file: to }}: the directory ${{ file: directory }} does not exist`,
    {
      hint: 'create the directory first, or use another path',
    },
  );
}

/** Refuses to overwrite an existing backup, which may be the last good one. */
function refuseExisting(to: string): void {
  if (!isThere(to)) return;
  const isDirectory = statSync(to, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isDirectory)
    throw exists(placed`${{ file: to }} is a directory`, { hint: 'use the name of a file in it' });
  throw exists(placed`${{ file: to }} already exists`, { hint: 'use --force to overwrite it' });
}

/** Removes a backup that may not survive a power cut: it could not be relied on, and would block the next attempt. */
async function takeBack(to: string, why: unknown): Promise<never> {
  try {
    await rm(to);
  } catch {
    mayBeGone(why);
  }
  throw why;
}

function mayBeGone(why: unknown): never {
  throw failedAfter(
    'the backup was created',
    why,
    'the backup is complete, but may not survive a power failure: copy it, or create another one',
  );
}

async function writeBackup(
  backend: Backend,
  version: Version,
  keyring: Keyring | undefined,
  { path, ...options }: BackupOptions & { readonly path: string },
): Promise<Omit<BackupSummary, 'id'>> {
  options.interruption?.begin();
  await rm(path, { force: true });
  return closing(await BackupWriter.create(path, options.to), async (writer) => {
    await writer.write({ kind: 'info', bytes: printChecked({ ...version }) });
    await writer.write({ kind: 'header', bytes: Buffer.from(await backend.header()) });
    const leftOut: Finding[] = [];
    const blobs =
      keyring === undefined
        ? readEvery(backend, version.generation)
        : verifiedBlobs(await sourceOf(backend, keyring, version.generation), leftOut, options);
    const count = { files: 0, bytes: 0 };
    for await (const { ref, bytes } of counted(blobs, count, options.interruption?.ended)) {
      await writer.write({ kind: 'blob', ref, bytes: Buffer.from(bytes) });
    }
    await writer.finish();
    return { files: count.files, bytes: writer.bytes, ...leftOutOf(leftOut) };
  });
}

interface RestoreOptions extends VerifyOptions, Abortable {
  readonly from: BackupSource;
  readonly location: Location;
}

/**
 * Restores a backup to an empty location: a directory, or `postgres://…`. The keys are those at the time of the backup.
 * Leaves nothing behind on failure.
 * @throws `exists` or `conflict` if the location is not empty; `corrupt` if the backup is damaged or of a newer format;
 * `DamageError` if the store in it is damaged or incomplete; `sealed` and `denied` as `openStore`
 */
export async function restoreStore(options: RestoreOptions): Promise<BackupSummary> {
  const { location, credentials, from } = options;
  const refuse = () => refuseStoreAt(location);
  const unlocked = credentials === undefined ? undefined : await unlockBackup(from, credentials, refuse);
  return readContent(options, unlocked, (content) => {
    options.interruption?.begin();
    return createAt(location, content);
  });
}

/**
 * Reads a backup as `restoreStore` does, and writes nothing.
 * @throws `corrupt` if the backup is damaged or of a newer format; `DamageError` if the store in it is damaged or
 * incomplete; `sealed` and `denied` as `openStore`
 */
export async function verifyBackup({
  from,
  credentials,
}: Required<Pick<RestoreOptions, 'from' | 'credentials'>>): Promise<BackupSummary> {
  const unlocked = await unlockBackup(from, credentials);
  return readContent({ from }, unlocked, async ({ blobs }) => {
    for await (const _ of blobs);
  });
}

/** Has the content of a backup written; verified if it is unlocked. */
async function readContent(
  options: Pick<RestoreOptions, 'from' | 'withoutDamaged' | 'interruption'>,
  unlocked: Unlocked | undefined,
  write: (content: InitialContent) => Promise<unknown>,
): Promise<BackupSummary> {
  const records = readBackupFile(options.from);
  const from = nameOf(options.from);
  try {
    const { header, version } = await headOf(records, from);
    const { id } = parseHeader(header, { file: from });
    const count = { files: 0, bytes: 0 };
    const leftOut: Finding[] = [];
    const blobs =
      unlocked === undefined
        ? blobsOf(records, from)
        : verifiedBlobs(sourceIn(records, from, unlocked), leftOut, options);
    await write({ header, version, blobs: counted(blobs, count, options.interruption?.ended) });
    return { id, ...count, ...leftOutOf(leftOut) };
  } finally {
    await records.return(undefined);
  }
}

async function headOf(records: AsyncGenerator<BackupRecord>, from: string) {
  const version = parseInfo(await nextOf(records, 'info', from), from);
  return { version, header: await nextOf(records, 'header', from) };
}

interface Unlocked {
  readonly keyring: Keyring;
  readonly root: RootKey;
}

/**
 * Reads a backup to its end and unlocks the store in it.
 * @param refuse refuses where it was to be restored, before a secret is asked for
 */
async function unlockBackup(
  source: BackupSource,
  credentials: readonly Credential[],
  refuse?: () => Promise<void>,
): Promise<Unlocked> {
  const records = readBackupFile(source);
  const from = nameOf(source);
  const head = await headOf(records, from);
  const { id } = parseHeader(head.header, { file: from });
  const backend = await MemoryBackend.create({ ...head, blobs: slotsOf(blobsOf(records, from)) }, from);
  await refuse?.();
  const keyring = await unlock(backend, id, credentials);
  return { keyring, root: await keyring.root(backend, head.version.generation) };
}

async function* slotsOf(blobs: AsyncIterable<Blob>): AsyncGenerator<Blob> {
  for await (const blob of blobs) if (blob.ref.area === 'slots') yield blob;
}

/** Store in a backup. Its slots are known only after its documents have been read. */
function sourceIn(records: AsyncGenerator<BackupRecord>, from: string, unlocked: Unlocked): StoreSource {
  const slots: Blob[] = [];
  return {
    ...unlocked,
    place: { file: from },
    locate: ({ area, name }) => ({ database: from, part: `${area}/${name}` }),
    slots,
    documents: documentsIn(records, from, slots),
    remedy: 'use another backup',
  };
}

async function* documentsIn(
  records: AsyncGenerator<BackupRecord>,
  from: string,
  slots: Blob[],
): AsyncGenerator<Blob> {
  for await (const blob of blobsOf(records, from)) {
    if (blob.ref.area === 'slots') slots.push(blob);
    else yield blob;
  }
}

async function* blobsOf(records: AsyncGenerator<BackupRecord>, from: string): AsyncGenerator<Blob> {
  for await (const record of records) {
    if (record.kind !== 'blob') throw damagedBackup(from);
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

/**
 * Whether a value is an integer in range. File and directory names are made from these numbers, so their digits are
 * bounded.
 */
const isCount = (value: unknown, least: number, below: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) < below;
