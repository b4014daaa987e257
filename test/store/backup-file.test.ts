import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { backupStore, restoreStore } from '../../src/store/administration/backup.ts';
import { BackupWriter, mayBeginBackup, readBackupFile } from '../../src/store/administration/backup-file.ts';
import { refused } from '../refusal.ts';
import { newStoreDirectory, temporaryDirectory } from './temporary-store.ts';

const MAGIC = Buffer.from('COFFERBK\x01', 'latin1');
const MIB = 1024 * 1024;

let path: string;
beforeEach(() => {
  path = join(temporaryDirectory(), 'backup');
});

function record(type: number, name: string, bytes: Uint8Array): Buffer {
  const numbers = [name.length, bytes.length].map((number) => {
    const field = Buffer.alloc(4);
    field.writeUInt32BE(number);
    return field;
  });
  return Buffer.concat([
    Buffer.of(type),
    numbers[0] ?? MAGIC,
    Buffer.from(name, 'latin1'),
    numbers[1] ?? MAGIC,
    bytes,
  ]);
}

/** Records with what begins a backup, and the sum of them all that ends it. */
function whole(...records: readonly Buffer[]): Buffer {
  const content = Buffer.concat([MAGIC, ...records]);
  return Buffer.concat([content, record(5, '', createHash('sha256').update(content).digest())]);
}

/** What is in a file, as far as it can be read. */
async function read(bytes: Uint8Array): Promise<readonly string[]> {
  writeFileSync(path, bytes);
  const found: string[] = [];
  for await (const { kind, ...rest } of readBackupFile(path)) {
    found.push('ref' in rest ? `${rest.ref.area}/${rest.ref.name}: ${rest.bytes}` : `${kind}: ${rest.bytes}`);
  }
  return found;
}

const text = (content: string): Buffer => Buffer.from(content);

describe('a file of a backup', () => {
  it('has records of its own kinds, with names of hexadecimal digits', async () => {
    const longest = 'f'.repeat(64);
    const bytes = whole(
      record(1, '', text('about')),
      record(2, '', text('head')),
      record(3, '0a', text('slot')),
      record(4, longest, text('')),
    );
    expect(await read(bytes)).toEqual([
      'info: about',
      'header: head',
      'slots/0a: slot',
      `documents/${longest}: `,
    ]);
  });

  it.each([
    ['of no kind', record(0, 'ab', text('x'))],
    ['of a kind that there is not', record(6, 'ab', text('x'))],
    ['that says what it is, with a name', record(1, 'ab', text('x'))],
    ['of a header with a name', record(2, 'ab', text('x'))],
    ['of a slot without a name', record(3, '', text('x'))],
    ['of a document without a name', record(4, '', text('x'))],
    ['of a document with a path for a name', record(4, '../ab', text('x'))],
    ['of a document with a name in capitals', record(4, 'AB', text('x'))],
    ['of a document with a name that is too long', record(4, 'a'.repeat(65), text('x'))],
  ])('is damaged with a record %s, even if its sum is right', async (_, wrong) => {
    expect(await refused(read(whole(record(1, '', text('x')), wrong)))).toMatchObject({
      kind: 'corrupt',
      message: `${path} is damaged`,
    });
  });

  it('ends with its sum, also where what is read at once ends there', async () => {
    const rest = whole(record(4, 'ab', text(''))).length;
    const bytes = whole(record(4, 'ab', Buffer.alloc(MIB - rest, 'x')));
    expect(bytes).toHaveLength(MIB);
    expect(await read(bytes)).toHaveLength(1);
    expect(await refused(read(Buffer.concat([bytes, Buffer.of(5)])))).toMatchObject({
      kind: 'corrupt',
      message: `${path} is damaged`,
    });
    const early = Buffer.concat([whole(record(4, 'ab', text('x'))), record(4, 'cd', text('y'))]);
    expect(await refused(read(early))).toMatchObject({ kind: 'corrupt', message: `${path} is damaged` });
  });

  it.each([
    ['1 GiB, which a record may have', 1024 * MIB, 'ends too early: it is cut off or damaged'],
    ['a byte more', 1024 * MIB + 1, 'is damaged'],
  ])('that claims %s and has less is refused', async (_, length, message) => {
    const begin = record(4, 'ab', text(''));
    begin.writeUInt32BE(length, begin.length - 4);
    expect(await refused(read(Buffer.concat([MAGIC, begin])))).toMatchObject({
      kind: 'corrupt',
      message: `${path} ${message}`,
    });
  });

  it('is written as it is read, with pieces that are longer than what is written at once', async () => {
    const writer = await BackupWriter.create(path);
    const long = Buffer.alloc(MIB + 1, 'y');
    await writer.write({ kind: 'info', bytes: text('about') });
    for (const name of ['ab', 'cd'])
      await writer.write({ kind: 'blob', ref: { area: 'documents', name }, bytes: long });
    await writer.finish();
    await writer.close();
    const bytes = whole(record(1, '', text('about')), record(4, 'ab', long), record(4, 'cd', long));
    expect(writer.bytes).toBe(bytes.length);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(await refused(BackupWriter.create(path, 'its name'))).toMatchObject({
      kind: 'unavailable',
      message: 'cannot create its name: file exists',
    });
  });

  it('is known by what it begins with, also by less than that', () => {
    for (const begin of ['', 'C', 'COFFERBK', 'COFFERBK\x02 more'])
      expect(mayBeginBackup(text(begin))).toBe(true);
    for (const begin of ['c', 'COFFERBX', 'COFFERB\n']) expect(mayBeginBackup(text(begin))).toBe(false);
  });

  it('that the disk does not give is not said to be another file', async () => {
    mkdirSync(path);
    const location = join(path, 'store');
    expect(await refused(restoreStore({ from: path, location }))).toMatchObject({
      kind: 'unavailable',
      message: `cannot read ${path}: is a directory`,
    });
    expect(readdirSync(path)).toEqual([]);
  });

  it('is not begun where its name is too long for the disk', async () => {
    const location = await newStoreDirectory();
    const parent = temporaryDirectory();
    const to = join(parent, 'x'.repeat(250));
    expect(await refused(backupStore({ location, to }))).toMatchObject({
      kind: 'unavailable',
      message: `cannot write ${to}: ENAMETOOLONG`,
    });
    expect(readdirSync(parent)).toEqual([]);
  });
});
