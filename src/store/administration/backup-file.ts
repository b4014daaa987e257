import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { alignedBuffer } from '../../ground/aligned.ts';
import { ByteQueue } from '../../ground/byte-queue.ts';
import { corrupt, placed, refusedAs } from '../../ground/errors.ts';
import type { Area, BlobRef } from '../backends/backend.ts';
import { ELSEWHERE, onDisk } from '../backends/files/disk-errors.ts';
import { FILE_MODE } from '../backends/files/durable-files.ts';

/**
 * Backup file of a whole store: `COFFERBK`, a format byte, records, and an end record with the SHA-256 of everything
 * before it. A record is its type (one byte), a name and a content, each after its length (32-bit big-endian). Format:
 * docs/format.md, "Backups". The contents are copied sealed, as they are in the store.
 */
const MAGIC = Buffer.from('COFFERBK\x01', 'latin1');
const MAGIC_TEXT_LENGTH = 8;
const NAME = /^[0-9a-f]{1,64}$/;
const CHUNK_BYTES = 1024 * 1024;
/**
 * Maximum length of a field, in bytes: larger than any document, and bounds the memory that a damaged length can
 * allocate.
 */
const MAX_FIELD_BYTES = 1024 * 1024 * 1024;

const types = { info: 1, header: 2, slots: 3, documents: 4, end: 5 } as const;
type RecordType = (typeof types)[keyof typeof types];
const areaTypes: Record<Area, RecordType> = { slots: types.slots, documents: types.documents };

/** Record of a backup: its info, the store header, or a blob. */
export type BackupRecord =
  | { readonly kind: 'info' | 'header'; readonly bytes: Buffer }
  | { readonly kind: 'blob'; readonly ref: BlobRef; readonly bytes: Buffer };

/** Writes records in the order given; durable once `finish` has resolved. */
export class BackupWriter {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #hash: Hash = createHash('sha256');
  #pending: Uint8Array[] = [MAGIC];
  #pendingBytes = MAGIC.length;
  bytes = 0;

  private constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /**
   * Creates a backup file.
   * @param named path in errors, if the file gets another name once it is complete
   * @throws `unavailable` if the file exists or cannot be written
   */
  static async create(path: string, named = path): Promise<BackupWriter> {
    const file = await onDisk('create', named, () => open(path, 'wx', FILE_MODE), ELSEWHERE);
    return new BackupWriter(file, named);
  }

  async write(record: BackupRecord): Promise<void> {
    const type = record.kind === 'blob' ? areaTypes[record.ref.area] : types[record.kind];
    await this.#append(type, record.kind === 'blob' ? record.ref.name : '', record.bytes);
  }

  async finish(): Promise<void> {
    await this.#flush();
    await this.#append(types.end, '', this.#hash.copy().digest());
    await this.#flush();
    await onDisk('write', this.#path, () => this.#file.sync());
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #append(type: RecordType, name: string, bytes: Uint8Array): Promise<void> {
    const head = Buffer.alloc(1 + 4 + name.length + 4);
    head.writeUInt8(type, 0);
    head.writeUInt32BE(name.length, 1);
    head.write(name, 5, 'latin1');
    head.writeUInt32BE(bytes.length, 5 + name.length);
    this.#pending.push(head, bytes);
    this.#pendingBytes += head.length + bytes.length;
    if (this.#pendingBytes >= CHUNK_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    const chunk = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#hash.update(chunk);
    await onDisk('write', this.#path, () => this.#file.writeFile(chunk));
    this.bytes += chunk.length;
  }
}

/** Backup file that is open already: every reader begins at its start, and none closes it. */
interface OpenBackup {
  readonly file: FileHandle;
  /** Name in errors. */
  readonly name: string;
}

/** Path of a backup file, or the file. */
export type BackupSource = string | OpenBackup;

/** Returns the name of a backup in errors. */
export const nameOf = (source: BackupSource): string => (typeof source === 'string' ? source : source.name);

/**
 * Reads the records of a backup. The caller must read to the end before using any of them: the checksum is verified
 * only there.
 * @throws `corrupt` if the file is damaged, truncated, of a newer format, or not a backup
 */
export async function* readBackupFile(from: BackupSource): AsyncGenerator<BackupRecord> {
  const path = nameOf(from);
  const source = await HashedFile.open(from);
  try {
    await checkMagic(source, path);
    for (;;) {
      const hashBefore = source.digest();
      const type = (await source.take(1))[0];
      const name = (await source.takeField()).toString('latin1');
      const bytes = await source.takeField();
      if (type === types.end) {
        if (!bytes.equals(hashBefore) || !(await source.atEnd())) throw damagedBackup(path);
        return;
      }
      yield recordOf(type, name, bytes, path);
    }
  } finally {
    await source.close();
  }
}

function recordOf(type: number | undefined, name: string, bytes: Buffer, path: string): BackupRecord {
  if (type === types.info && name === '') return { kind: 'info', bytes };
  if (type === types.header && name === '') return { kind: 'header', bytes };
  const area = type === types.slots ? 'slots' : type === types.documents ? 'documents' : undefined;
  // The name becomes part of a path, so only hexadecimal digits are allowed.
  if (area === undefined || !NAME.test(name)) throw damagedBackup(path);
  return { kind: 'blob', ref: { area, name }, bytes };
}

/** Whether bytes may be the beginning of a backup, of this release or a newer one. */
export function mayBeginBackup(bytes: Uint8Array): boolean {
  const length = Math.min(bytes.length, MAGIC_TEXT_LENGTH);
  return MAGIC.subarray(0, length).equals(bytes.subarray(0, length));
}

async function checkMagic(source: HashedFile, path: string): Promise<void> {
  // Fails if it is too short to be a backup. A disk error says nothing about the file and is rethrown.
  const magic = await source.take(MAGIC.length).catch(refusedAs(Buffer.alloc(MAGIC.length), 'corrupt'));
  if (magic.equals(MAGIC)) return;
  if (mayBeginBackup(magic)) {
    throw corrupt(
      placed`${{ file: path }} was written by a newer Coffer (format ${String(magic[MAGIC_TEXT_LENGTH])}), or is damaged`,
      {
        hint: 'install a newer Coffer, or use another backup',
      },
    );
  }
  throw corrupt(placed`${{ file: path }} is not a store backup`, {
    hint: 'use a file written by "coffer store backup FILE"',
  });
}

/** Reads a file sequentially in large pieces and hashes the bytes taken. */
class HashedFile {
  readonly #file: FileHandle;
  readonly #isOwn: boolean;
  readonly #path: string;
  readonly #hash: Hash = createHash('sha256');
  readonly #read = new ByteQueue();
  #position = 0;

  private constructor(file: FileHandle, path: string, isOwn: boolean) {
    this.#file = file;
    this.#path = path;
    this.#isOwn = isOwn;
  }

  static async open(source: BackupSource): Promise<HashedFile> {
    if (typeof source !== 'string') return new HashedFile(source.file, source.name, false);
    return new HashedFile(await onDisk('read', source, () => open(source, 'r')), source, true);
  }

  /** Digest of all bytes taken so far. */
  digest(): Buffer {
    return this.#hash.copy().digest();
  }

  /**
   * Takes exactly `size` bytes.
   * @throws `corrupt` if there are fewer
   */
  async take(size: number): Promise<Buffer> {
    while (this.#read.length < size && (await this.#fill(size))) {}
    const taken = this.#read.take(size);
    if (taken === undefined) {
      throw corrupt(placed`${{ file: this.#path }} ends too early: it is cut off or damaged`, {
        hint: 'use another backup',
      });
    }
    this.#hash.update(taken);
    return taken;
  }

  async takeField(): Promise<Buffer> {
    const length = (await this.take(4)).readUInt32BE();
    if (length > MAX_FIELD_BYTES) throw damagedBackup(this.#path);
    return this.take(length);
  }

  async atEnd(): Promise<boolean> {
    return this.#read.length === 0 && !(await this.#fill(1));
  }

  async close(): Promise<void> {
    if (this.#isOwn) await this.#file.close();
  }

  async #fill(atLeast: number): Promise<boolean> {
    const chunk = alignedBuffer(Math.max(CHUNK_BYTES, Math.min(atLeast, 16 * CHUNK_BYTES)));
    const position = this.#isOwn ? null : this.#position;
    const { bytesRead: count } = await onDisk('read', this.#path, () =>
      this.#file.read(chunk, 0, chunk.length, position),
    );
    this.#position += count;
    this.#read.add(chunk.subarray(0, count));
    return count > 0;
  }
}

export const damagedBackup = (file: string) =>
  corrupt(placed`${{ file }} is damaged`, { hint: 'use another backup' });
