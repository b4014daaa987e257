import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../../../src/store/backends/backend.ts';
import {
  FIRST_RECORD,
  isFull,
  isHalfFull,
  type LogHead,
  nextPlace,
  crc32 as ownCrc32,
  parseHead,
  plainCrc32,
  printHead,
  RECORD_HEAD_BYTES,
} from '../../../../src/store/backends/files/log/format.ts';
import {
  isIntact,
  type LogRecord,
  lengthOf,
  MOST_RECORD_BYTES,
  parseList,
  printRecord,
  recordBytes,
} from '../../../../src/store/backends/files/log/records.ts';
import { rounds } from '../../../long.ts';
import { seeded } from '../../../seeded.ts';
import { parseRecord } from './logged-store.ts';

const head: LogHead = {
  isFirst: false,
  generation: 3,
  storeId: Buffer.alloc(16, 0x11),
  sequence: 7,
  base: 2 ** 53 - 1,
  salt: Buffer.alloc(16, 0x22),
};

const record = (changes: readonly Change[], more: Partial<LogRecord> = {}): LogRecord => ({
  revision: 10 ** 15,
  boot: Buffer.alloc(8, 0x33),
  generation: 3,
  kind: 'commit',
  changes,
  ...more,
});

const put = (name: string, text: string): Change => ({
  ref: { area: 'documents', name },
  bytes: Buffer.from(text),
});

/** The changes that a record has, as they were before it was printed. */
function changesOf(bytes: Buffer, before: number): readonly Change[] | undefined {
  return parseRecord(bytes, before)?.entries.map(({ ref, place }) => ({
    ref,
    bytes: place && Buffer.from(bytes.subarray(place.offset, place.offset + place.length)),
  }));
}

describe('the checksum of the log', () => {
  // "123456789" is the check value of every catalogue of CRCs, the others are of the zlib and Go test suites.
  it.each([
    ['', 0x00000000],
    ['a', 0xe8b7be43],
    ['abc', 0x352441c2],
    ['123456789', 0xcbf43926],
    ['abcdefghijklmnopqrstuvwxyz', 0x4c2750bd],
    ['The quick brown fox jumps over the lazy dog', 0x414fa339],
  ])('is CRC-32 as it was published: of "%s"', (text, value) => {
    const bytes = Buffer.from(text);
    const middle = bytes.length >> 1;
    for (const each of [crc32, plainCrc32, ownCrc32]) {
      expect(each(bytes)).toBe(value);
      expect(each(bytes.subarray(middle), each(bytes.subarray(0, middle)))).toBe(value);
    }
  });

  it('is the same of many bytes, before and after the native function is loaded', () => {
    const chance = seeded();
    for (let round = 0; round < 40; round++) {
      const [bytes, before] = [chance.bytes(chance.below(20_000)), chance.below(2 ** 31)];
      for (const each of [plainCrc32, ownCrc32]) expect(each(bytes, before)).toBe(crc32(bytes, before));
    }
  });
});

describe('the head of a file of the log', () => {
  it('has its fields where the format says', () => {
    const bytes = printHead(head);
    expect(bytes).toHaveLength(FIRST_RECORD);
    expect(bytes.toString('latin1', 0, 12)).toBe('COFFERLG\x01\0\0\0');
    expect(bytes.readUInt32BE(12)).toBe(3);
    expect(bytes.readBigUInt64BE(32)).toBe(7n);
    expect(bytes.readBigUInt64BE(40)).toBe(2n ** 53n - 1n);
    expect(bytes.readUInt32BE(64)).toBe(crc32(bytes.subarray(0, 64)));
    expect(bytes.subarray(68).every((byte) => byte === 0)).toBe(true);
    expect(parseHead(bytes)).toEqual({ head, crc: bytes.readUInt32BE(64) });
    const first = printHead({ ...head, isFirst: true });
    expect(first.toString('latin1', 0, 12)).toBe('COFFERLG\x01\x01\0\0');
    expect(parseHead(first)?.head.isFirst).toBe(true);
  });

  it('is refused when any bit of it is another, or when it is cut', () => {
    const bytes = printHead(head);
    for (let bit = 0; bit < 68 * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(parseHead(flipped)).toBeUndefined();
    }
    for (let length = 0; length < 68; length++) expect(parseHead(bytes.subarray(0, length))).toBeUndefined();
  });
});

describe('a record of the log', () => {
  it('says what it was made of, names of any length included', () => {
    const changes: readonly Change[] = [
      put('aa', 'one'),
      put('abc', ''),
      put('0123456789abcdef'.repeat(4), 'long'),
      { ref: { area: 'slots', name: '0011223344556677' }, bytes: Buffer.from('slot') },
      { ref: { area: 'documents', name: 'bb' }, bytes: undefined },
      { ref: { area: 'slots', name: 'cc' }, bytes: undefined },
    ];
    const bytes = printRecord(record(changes), 99);
    expect(bytes).toHaveLength(recordBytes(changes));
    expect(lengthOf(bytes)).toBe(bytes.length);
    expect(changesOf(bytes, 99)).toEqual(changes);
    expect(parseRecord(bytes, 99)).toMatchObject({ revision: 10 ** 15, generation: 3, kind: 'commit' });
    expect(parseRecord(bytes, 98)).toBeUndefined();
    for (const kind of ['rekey', 'raise'] as const)
      expect(parseRecord(printRecord(record([], { kind }), 0), 0)?.kind).toBe(kind);
  });

  it('is no record when any bit of it is another, or when it is cut', () => {
    const bytes = printRecord(record([put('aa', 'one'), put('bb', 'two')]), 5);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(parseRecord(flipped, 5)).toBeUndefined();
    }
    for (let length = RECORD_HEAD_BYTES; length < bytes.length; length++) {
      // What follows of a file is zeros, or what was there before.
      for (const filling of [0, 0xff]) {
        const torn = Buffer.alloc(bytes.length, filling);
        bytes.copy(torn, 0, 0, length);
        if (!torn.equals(bytes)) expect(parseRecord(torn, 5)).toBeUndefined();
      }
    }
  });

  it('says which blobs it has, and which of them are intact, whatever else of it is damaged', () => {
    const bytes = printRecord(record([put('aa', 'one'), put('bb', 'two')]), 5);
    const contents = bytes.length - 'onetwo'.length;
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const found = parseList(flipped);
      const intact = found?.entries.filter((entry) => isIntact(entry, flipped)).map(({ ref }) => ref.name);
      if (bit >> 3 < contents) expect(found).toBeUndefined();
      else expect(intact).toEqual([bit >> 3 < contents + 'one'.length ? 'bb' : 'aa']);
    }
  });

  it('is not begun by zeros, nor by a length that no record has', () => {
    expect(lengthOf(Buffer.alloc(RECORD_HEAD_BYTES))).toBeUndefined();
    expect(lengthOf(Buffer.alloc(RECORD_HEAD_BYTES - 1, 1))).toBeUndefined();
    for (const [length, isOne] of [
      [RECORD_HEAD_BYTES - 1, false],
      [RECORD_HEAD_BYTES, true],
      [MOST_RECORD_BYTES, true],
      [MOST_RECORD_BYTES + 1, false],
    ] as const) {
      const bytes = Buffer.alloc(RECORD_HEAD_BYTES);
      bytes.writeUInt32BE(length);
      expect(lengthOf(bytes) !== undefined).toBe(isOne);
    }
  });

  it('says what it was made of, whatever that was', () => {
    const chance = seeded();
    for (let round = 0; round < rounds(300); round++) {
      const changes = Array.from({ length: chance.below(6) }, (): Change => {
        const digits = 1 + chance.below(64);
        const name = chance.bytes(32).toString('hex').slice(0, digits);
        const bytes = chance.oneIn(4) ? undefined : chance.bytes(chance.below(300));
        return { ref: { area: chance.oneIn(3) ? 'slots' : 'documents', name }, bytes };
      });
      const before = chance.below(2 ** 31);
      const bytes = printRecord(record(changes, { revision: chance.below(2 ** 31) }), before);
      expect(changesOf(bytes, before)).toEqual(changes);
    }
  });

  it('has nothing of it believed that its checksum covers, but that does not fit', () => {
    const bytes = printRecord(record([put('aa', 'one')]), 0);
    const broken: readonly ((copy: Buffer) => void)[] = [
      (copy) => copy.writeUIntBE(2, 28, 3),
      (copy) => copy.writeUInt8(4, RECORD_HEAD_BYTES),
      (copy) => copy.writeUInt8(0, RECORD_HEAD_BYTES + 1),
      (copy) => copy.writeUInt8(65, RECORD_HEAD_BYTES + 1),
      (copy) => copy.writeUInt32BE(4, RECORD_HEAD_BYTES + 2),
      (copy) => copy.writeUInt8(3, 31),
    ];
    for (const change of broken) {
      const copy = Buffer.from(bytes);
      change(copy);
      const listEnd = copy.length - 'one'.length;
      copy.writeUInt32BE(crc32(copy.subarray(8, listEnd), crc32(copy.subarray(0, 4))), 4);
      expect(parseRecord(copy, 0)).toBeUndefined();
    }
  });
});

describe('a file of the log', () => {
  it('is full with 256 records, or once one has ended at or after a mebibyte', () => {
    expect([isFull(255, 4096), isFull(256, 4096)]).toEqual([false, true]);
    expect([isFull(1, 1024 * 1024 - 1), isFull(1, 1024 * 1024)]).toEqual([false, true]);
    expect([isHalfFull(127, 4096), isHalfFull(128, 4096), isHalfFull(1, 512 * 1024)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('has records at multiples of 8', () => {
    expect([4096, 4097, 4103, 4104].map(nextPlace)).toEqual([4096, 4104, 4104, 4104]);
  });
});
