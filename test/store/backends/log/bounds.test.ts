import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Area, Change } from '../../../../src/store/backends/backend.ts';
import {
  crc32,
  FILE_BYTES,
  FIRST_RECORD,
  nextPlace,
  parseHead,
  printHead,
  RECORD_HEAD_BYTES,
} from '../../../../src/store/backends/files/log/format.ts';
import { GlancedFile, readRecords } from '../../../../src/store/backends/files/log/glance.ts';
import { LogBytes, release } from '../../../../src/store/backends/files/log/log-bytes.ts';
import { Pace } from '../../../../src/store/backends/files/log/pace.ts';
import { type LogRecord, parseList, printRecord } from '../../../../src/store/backends/files/log/records.ts';
import { nextRecord, recordAt } from '../../../../src/store/backends/files/log/search.ts';
import { temporaryDirectory } from '../../temporary-store.ts';

const BASE = 10;
const HEAD = printHead({
  isFirst: true,
  generation: 3,
  storeId: Buffer.alloc(16, 0x11),
  sequence: 1,
  base: BASE,
  salt: Buffer.alloc(16, 0x22),
});

const change = (name: string, text: string | undefined, area: Area = 'documents'): Change => ({
  ref: { area, name },
  bytes: text === undefined ? undefined : Buffer.from(text),
});

type Given = Partial<LogRecord> & {
  /** Changes the record before its checksum is computed. */
  readonly spoiled?: (record: Buffer) => void;
  /** CRC-32 that it says it follows, if not that before it. */
  readonly before?: number;
};

/** Bytes of a file of the log with these records, each above the one before it unless it says so itself. */
function fileOf(...records: readonly Given[]): Buffer {
  const pieces = [HEAD];
  let end = HEAD.length;
  let crc = parseHead(HEAD)?.crc ?? 0;
  for (const [index, { spoiled, before = crc, ...more }] of records.entries()) {
    const whole = {
      revision: BASE + 1 + index,
      boot: Buffer.alloc(8, index),
      generation: 3,
      kind: 'commit',
      changes: [],
    };
    const bytes = printRecord({ ...(whole as LogRecord), ...more }, before);
    if (spoiled !== undefined) {
      const contents = (more.changes ?? []).reduce(
        (sum, { bytes: content }) => sum + (content?.length ?? 0),
        0,
      );
      spoiled(bytes);
      const listEnd = bytes.length - contents;
      bytes.writeUInt32BE(crc32(bytes.subarray(8, listEnd), crc32(bytes.subarray(0, 4))), 4);
    }
    pieces.push(bytes, Buffer.alloc(nextPlace(end + bytes.length) - end - bytes.length));
    end = nextPlace(end + bytes.length);
    crc = bytes.readUInt32BE(4);
  }
  return Buffer.concat(pieces);
}

function glanced(bytes: Buffer, upTo: number, isAll = true): GlancedFile | 'more' | undefined {
  const head = parseHead(bytes);
  if (head === undefined) throw new Error('no head');
  return readRecords(bytes, head, upTo, isAll);
}
const isWhole = (bytes: Buffer, upTo: number): boolean => glanced(bytes, upTo) instanceof GlancedFile;
/** With what may be behind the last record. */
const followedBy = (bytes: Buffer, length: number): Buffer => {
  const next = Buffer.alloc(RECORD_HEAD_BYTES);
  next.writeUInt32BE(length);
  return Buffer.concat([bytes, next]);
};

const ONE: Given = { changes: [change('aa', 'one')] };

describe('a glance at a file of the log', () => {
  it('takes a file that ends with the state, right at its end or before zeros', () => {
    const bytes = fileOf(ONE, ONE);
    for (const file of [bytes, followedBy(bytes, 0), followedBy(bytes, RECORD_HEAD_BYTES - 1)]) {
      const found = glanced(file, BASE + 2);
      expect(found).toBeInstanceOf(GlancedFile);
      expect(found instanceof GlancedFile && [found.next, found.lastBoot]).toEqual([
        bytes.length,
        Buffer.alloc(8, 1),
      ]);
    }
    const none = glanced(HEAD, BASE);
    expect(none instanceof GlancedFile && [none.next, none.lastBoot]).toEqual([FIRST_RECORD, undefined]);
  });

  it('does not take one with a record behind the state, or with none of the state', () => {
    const bytes = fileOf(ONE, ONE);
    expect(isWhole(bytes, BASE + 1)).toBe(false);
    expect(isWhole(bytes, BASE + 3)).toBe(false);
    expect(isWhole(bytes, BASE)).toBe(false);
    expect(isWhole(followedBy(bytes, RECORD_HEAD_BYTES), BASE + 2)).toBe(false);
  });

  it('wants to read on where what was read ends within a record, or right behind the last one', () => {
    const bytes = fileOf(ONE, ONE);
    const length = RECORD_HEAD_BYTES + 10 + 1 + 3;
    const second = FIRST_RECORD + nextPlace(length);
    for (const cut of [FIRST_RECORD + 35, FIRST_RECORD + 36, second + 1, second + length - 1]) {
      const part = bytes.subarray(0, cut);
      expect([cut, glanced(part, BASE + 2, false), glanced(part, BASE + 2)]).toEqual([
        cut,
        'more',
        undefined,
      ]);
    }
    expect(glanced(bytes, BASE + 2, false)).toBe('more');
    expect(glanced(followedBy(bytes, 0), BASE + 2, false)).toBeInstanceOf(GlancedFile);
    expect(isWhole(bytes.subarray(0, second + length), BASE + 2)).toBe(true);
  });

  it('takes a record of the size of a file, and no longer one', () => {
    const long = (more: number): Given => ({
      changes: [change('aa', 'x'.repeat(FILE_BYTES - RECORD_HEAD_BYTES - 11 + more))],
    });
    expect(isWhole(fileOf(long(0)), BASE + 1)).toBe(true);
    expect(isWhole(fileOf(long(1)), BASE + 1)).toBe(false);
  });

  it.each<[string, readonly Given[]]>([
    [
      'the revision of the one before it',
      [ONE, { ...ONE, revision: BASE + 1 }, { ...ONE, revision: BASE + 2 }],
    ],
    [
      'the revision before the file',
      [
        { ...ONE, revision: BASE },
        { ...ONE, revision: BASE + 2 },
      ],
    ],
    ['a revision above the state', [{ ...ONE, revision: BASE + 3 }]],
    ['another generation', [ONE, { ...ONE, generation: 4 }]],
    ['another one before it', [ONE, { ...ONE, before: 1 }]],
    ['the end of its generation', [ONE, { ...ONE, kind: 'rekey' }]],
    ['a kind that there is not', [ONE, { ...ONE, spoiled: (bytes) => bytes.writeUInt8(3, 31) }]],
    ['more blobs than it has', [ONE, { ...ONE, spoiled: (bytes) => bytes.writeUIntBE(2, 28, 3) }]],
    ['fewer blobs than it has', [ONE, { ...ONE, spoiled: (bytes) => bytes.writeUIntBE(0, 28, 3) }]],
    ['a blob of no kind', [ONE, { ...ONE, spoiled: (bytes) => bytes.writeUInt8(4, RECORD_HEAD_BYTES) }]],
    [
      'a blob without a name',
      [ONE, { ...ONE, spoiled: (bytes) => bytes.writeUInt8(0, RECORD_HEAD_BYTES + 1) }],
    ],
    [
      'a content that is too long',
      [ONE, { ...ONE, spoiled: (bytes) => bytes.writeUInt32BE(4, RECORD_HEAD_BYTES + 2) }],
    ],
    [
      'a name that is too long',
      [
        ONE,
        {
          changes: [change('ab'.repeat(33), '')],
          spoiled: (bytes) => bytes.writeUInt8(66, RECORD_HEAD_BYTES + 1),
        },
      ],
    ],
  ])('does not take a file with a record that has %s', (_, records) => {
    expect(isWhole(fileOf(...records), BASE + 2)).toBe(false);
  });

  it('takes records that skip revisions or raise them, and the longest names', () => {
    const records: readonly Given[] = [
      { ...ONE, revision: BASE + 5 },
      { kind: 'raise', revision: BASE + 9 },
      { changes: [change('ab'.repeat(32), 'long')], revision: BASE + 10 },
    ];
    const found = glanced(fileOf(...records), BASE + 10);
    expect(found instanceof GlancedFile && found.find('documents', 'ab'.repeat(32))).toMatchObject({
      length: 4,
    });
  });

  it('does not take a file of which a list is another one, though its contents may be', () => {
    const bytes = fileOf(ONE, ONE);
    for (const [at, isTaken] of [
      [FIRST_RECORD + 16, false],
      [FIRST_RECORD + 46, false],
      [FIRST_RECORD + 47, true],
    ] as const) {
      const other = Buffer.from(bytes);
      other.writeUInt8(other.readUInt8(at) ^ 1, at);
      expect([at, isWhole(other, BASE + 2)]).toEqual([at, isTaken]);
    }
  });

  it('finds the last content of the very name and area, and not what only looks like the name', () => {
    const bytes = fileOf(
      { changes: [change('aa', 'old'), change('aabb', 'both'), change('aa', 'slot', 'slots')] },
      { changes: [change('a', 'short'), change('bb', 'gone'), change('aa0', 'odd')] },
      { changes: [change('bb', undefined), change('aa', 'new')] },
    );
    const found = glanced(bytes, BASE + 3);
    if (!(found instanceof GlancedFile)) throw new Error('it was not taken');
    const textOf = (name: string, area: Area = 'documents') => {
      const place = found.find(area, name);
      if (place === undefined || place.isDeleted) return place?.isDeleted;
      const content = bytes.subarray(place.offset, place.offset + place.length);
      expect(crc32(content)).toBe(place.crc);
      return content.toString();
    };
    const names = ['aa', 'aabb', 'a', 'a0', 'aa0', 'aa00', 'bb', 'cc', ''];
    expect(names.map((name) => textOf(name))).toEqual([
      'new',
      'both',
      'short',
      undefined,
      'odd',
      undefined,
      true,
      undefined,
      undefined,
    ]);
    expect([textOf('aa', 'slots'), textOf('bb', 'slots')]).toEqual(['slot', undefined]);
    const all = new Set(['bb', 'dd']);
    found.apply('documents', all);
    expect([...all].sort()).toEqual(['a', 'aa', 'aa0', 'aabb', 'dd']);
    const slots = new Set<string>();
    found.apply('slots', slots);
    expect([...slots]).toEqual(['aa']);
  });
});

describe('a record that is looked for behind damage', () => {
  const bytes = fileOf(ONE, ONE, ONE);
  const step = nextPlace(RECORD_HEAD_BYTES + 14);
  const found = (from: number, bounds: object = {}, of = bytes) =>
    nextRecord(of, from, { generation: 3, from: 0, upTo: 100, ...bounds })?.record.revision;

  it('is the next one of its generation, above what is known and not above what there is', () => {
    expect(found(0)).toBe(BASE + 1);
    expect(found(FIRST_RECORD)).toBe(BASE + 1);
    expect(found(FIRST_RECORD + 8)).toBe(BASE + 2);
    expect(found(FIRST_RECORD + 2 * step + 8)).toBeUndefined();
    expect(found(0, { generation: 4 })).toBeUndefined();
    expect([found(0, { from: BASE }), found(0, { from: BASE + 1 })]).toEqual([BASE + 1, BASE + 2]);
    expect([found(0, { upTo: BASE }), found(0, { upTo: BASE + 1 })]).toEqual([undefined, BASE + 1]);
  });

  it('may end with the file, and is none if the file ends before it', () => {
    const last = FIRST_RECORD + 2 * step;
    const end = last + RECORD_HEAD_BYTES + 14;
    expect(recordAt(bytes.subarray(0, end), last)).toHaveLength(RECORD_HEAD_BYTES + 14);
    expect(recordAt(bytes.subarray(0, end - 1), last)).toBeUndefined();
    expect(found(last, {}, bytes.subarray(0, end))).toBe(BASE + 3);
    expect(found(last, {}, bytes.subarray(0, end - 1))).toBeUndefined();
    const bare = fileOf({ kind: 'raise' });
    expect(found(FIRST_RECORD, {}, bare.subarray(0, FIRST_RECORD + RECORD_HEAD_BYTES))).toBe(BASE + 1);
    expect(found(FIRST_RECORD, {}, bare.subarray(0, FIRST_RECORD + RECORD_HEAD_BYTES - 1))).toBeUndefined();
  });

  it('has as many blobs as it says, to its last byte', () => {
    const record = printRecord(
      {
        revision: 1,
        boot: Buffer.alloc(8),
        generation: 3,
        kind: 'commit',
        changes: [change('aabb', undefined)],
      },
      0,
    );
    expect(parseList(record)?.entries).toHaveLength(1);
    for (const end of [RECORD_HEAD_BYTES + 9, RECORD_HEAD_BYTES + 10, record.length - 1]) {
      expect(parseList(record.subarray(0, end), record.length)).toBeUndefined();
    }
  });
});

describe('an open file of the log', () => {
  const whole = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251));

  it('has the bytes that are there, wherever they were read before', () => {
    const path = join(temporaryDirectory(), 'file');
    writeFileSync(path, whole);
    LogBytes.of(path, (file) => {
      for (const [offset, length] of [
        [100_000, 10],
        [99_990, 20],
        [100_000, 64 * 1024],
        [100_000, 64 * 1024 + 1],
        [0, 5],
        [199_995, 10],
      ] as const) {
        expect(file.at(offset, length).equals(whole.subarray(offset, offset + length))).toBe(true);
      }
      expect([file.reaches(200_000), file.reaches(200_001)]).toEqual([true, false]);
      expect(file.alone(199_999, 5)).toHaveLength(1);
    });
    expect(LogBytes.of(join(path, '..', 'none'), () => 'found')).toBeUndefined();
  });

  it.each([
    [50, 100],
    [49, 49],
    [0, 0],
  ])('keeps all that it read if %i bytes of 100 are used, and else a copy of these: %i', (used, left) => {
    const kept = { bytes: Buffer.from(Array.from({ length: 100 }, (_, at) => at)), start: 1000 };
    release({ kept, begin: 1010, end: 1010 + used });
    expect(kept.bytes).toHaveLength(left);
    expect(kept.start).toBe(left === 100 ? 1000 : 1010);
    if (used > 0) expect(kept.bytes[1010 - kept.start]).toBe(10);
    release(undefined);
  });
});

it('the newest file may be a tenth ahead of the oldest without a wait', async () => {
  const pace = new Pace();
  pace.advance(0);
  let isKept = false;
  const kept = pace
    .keep(() => 0.1, Number.POSITIVE_INFINITY)
    .then(() => {
      isKept = true;
    });
  await new Promise(setImmediate);
  expect(isKept).toBe(true);
  pace.advance(undefined);
  await kept;
});
