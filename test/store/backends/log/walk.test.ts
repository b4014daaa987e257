import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseHead } from '../../../../src/store/backends/files/log/format.ts';
import { glanceAt } from '../../../../src/store/backends/files/log/glance.ts';
import { type GlancedFile, readRecords } from '../../../../src/store/backends/files/log/glanced-file.ts';
import { walkRecords } from '../../../../src/store/backends/files/log/walk.ts';
import { OpenedFiles } from '../../../../src/store/backends/files/opened-files.ts';
import {
  commit,
  commitQuietly,
  document,
  logFile,
  loggedStore,
  nameOf,
  put,
  recordsIn,
  remove,
} from './logged-store.ts';

const RECORDS = 14;
const NAMES = ['aa', 'aaa', '0aaa', 'ab'] as const;

/** The file of a log with records of all kinds. */
async function withRecords(): Promise<string> {
  const { directory, backend } = await loggedStore();
  for (let i = 0; i < RECORDS / 2 - 1; i++) {
    await commit(backend, put('aa', `even ${i}`), put('aaa', 'odd'.repeat(i)), put(nameOf(i), ''));
    const slot = { ref: { area: 'slots' as const, name: 'ab' }, bytes: Buffer.from('slot') };
    await commit(backend, remove(NAMES[i % 4] ?? ''), slot, put('0aaa', 'x'));
  }
  await backend.exclusive((session) => session.raise(100, [put('ab', 'with a raise')]));
  await commit(backend, remove('aaa'));
  return logFile(directory);
}

/** What a file says about names, and where it ends. */
const said = (file: GlancedFile | 'more' | 'impossible' | undefined): unknown =>
  typeof file === 'object' && {
    found: NAMES.flatMap((name) => [file.find('documents', name), file.find('slots', name)]).map(
      (place) => place && [place, place.isDeleted || file.contentAt(place)],
    ),
    names: (['documents', 'slots'] as const).map((area) => {
      const names = new Set<string>(['ab']);
      file.apply(area, names);
      return [...names];
    }),
    next: file.next,
    boot: file.lastBoot?.toString('hex'),
  };

/** Looks at bytes with both loops, of which one is given the beginning of the file only. */
function both(path: string, bytes: Buffer, upTo: number, firstBytes: number): readonly [unknown, unknown] {
  const parsed = parseHead(bytes);
  if (parsed === undefined) throw new Error('no head');
  writeFileSync(path, bytes);
  const fd = openSync(path, 'r');
  try {
    const begun = { fd, size: bytes.length, first: bytes.subarray(0, firstBytes), parsed };
    return [said(readRecords(bytes, parsed, upTo, true)), said(walkRecords(begun, upTo))];
  } finally {
    closeSync(fd);
  }
}

afterEach(() => vi.unstubAllGlobals());

describe('the loop over many records', () => {
  it('says what the loop over a few says, however much of the file was read before', async () => {
    const path = await withRecords();
    const bytes = readFileSync(path);
    for (const first of [4096, 4097, 4100, 4200, 5000, bytes.length]) {
      const [few, many] = both(path, bytes, 101, first);
      expect(few).toMatchObject({ next: recordsIn(path).at(-1)?.end });
      expect(many).toEqual(few);
    }
    for (const upTo of [0, 1, 12, 50, 100, 102, 2 ** 40]) {
      const [few, many] = both(path, bytes, upTo, 4096);
      expect(many, `up to ${upTo}`).toEqual(few);
    }
  });

  it('says so for a file that was cut anywhere, and where any bit is another one', async () => {
    const path = await withRecords();
    const end = recordsIn(path).at(-1)?.end ?? 0;
    // Without most of its zeros, so that it is quickly written.
    const whole = readFileSync(path).subarray(0, end + 100);
    let differing = 0;
    for (let at = 4096; at < end + 8; at += 3) {
      const bytes = at % 5 === 0 ? Buffer.from(whole.subarray(0, at)) : Buffer.from(whole);
      if (at % 5 !== 0) bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at);
      const [few, many] = both(path, bytes, 101, 4096);
      expect(many, `at ${at}`).toEqual(few);
      if (few === false) differing++;
    }
    expect(differing).toBeGreaterThan(100);
  });

  it('is not needed: without WebAssembly, and with too little memory, a log is read without it', async () => {
    const { directory } = await loggedStore();
    await commitQuietly(directory, 300);
    const seen = (): unknown => {
      const { layout, state, storeId } = new OpenedFiles(directory);
      const log = glanceAt(layout, storeId, state.read());
      return [0, 100, 299, 300].map((i) => log?.find(1, document(nameOf(i))));
    };
    const expected = seen();
    expect(expected).toMatchObject([{}, {}, { bytes: Buffer.from('many 299') }, undefined]);
    vi.stubGlobal('WebAssembly', undefined);
    expect(seen()).toEqual(expected);
    const refused = class {
      constructor() {
        throw new RangeError('could not allocate memory');
      }
    };
    vi.stubGlobal('WebAssembly', { Module: refused, Instance: refused });
    expect(seen()).toEqual(expected);
  });
});
