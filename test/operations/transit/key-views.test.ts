import { describe, expect, it } from 'vitest';
import { CofferError, type ErrorKind } from '../../../src/ground/errors.ts';
import type { Runner } from '../../../src/operations/declaration/operation.ts';
import type { KeyData } from '../../../src/operations/transit/key-data.ts';
import { keyListTable, keyViews } from '../../../src/operations/transit/key-views.ts';

const made = (day: number) => ({ creation_time: `2026-01-0${day}T00:00:00Z` });
const PLAIN = {
  name: 'k',
  type: 'aes256-gcm96',
  latest_version: 1,
  min_decryption_version: 1,
  min_available_version: 0,
  supports_encryption: true,
  supports_signing: false,
  deletion_allowed: false,
  exportable: false,
  allow_plaintext_backup: false,
  derived: false,
  auto_rotate_period: 0,
  imported_key: false,
  soft_deleted: false,
  keys: { 1: made(1) },
};
const runner = {} as Runner;

/** What a terminal shows of a key, by its labels, and of its versions. */
async function shown(change: object) {
  const [facts, versions] = await keyViews({ ...PLAIN, ...change } as unknown as KeyData, {
    runner,
    wide: false,
  });
  return { facts: Object.fromEntries(facts?.rows ?? []) as object, versions };
}

describe('what is shown of a key', () => {
  it('is only what it has', async () => {
    const { facts } = await shown({});
    expect(facts).toEqual({
      Name: 'k',
      Type: 'aes256-gcm96',
      'Latest version': '1',
      'Used for': 'encryption',
      'Not allowed': 'deletion, export',
    });
  });

  it.each<[object, object]>([
    [{ parameter_set: '44' }, { Type: 'aes256-gcm96 (44)' }],
    [{ supports_signing: true }, { 'Used for': 'encryption, signing' }],
    [{ supports_encryption: false }, { 'Used for': 'HMAC' }],
    [{ deletion_allowed: true }, { Allowed: 'deletion' }],
    [{ exportable: true, allow_plaintext_backup: true }, { Allowed: 'export, plaintext backup' }],
    [{ derived: true }, { Derived: 'a key for each context' }],
    [{ derived: true, convergent_encryption: true }, { Derived: 'a key for each context, convergent' }],
    [{ auto_rotate_period: 1 }, { Rotated: 'every 1s' }],
    [{ imported_key: true }, { Imported: 'yes' }],
    [{ soft_deleted: true }, { Deleted: 'yes, can be restored' }],
    [{ tags: ['acme/a', 'acme/b'] }, { Tags: 'acme/a acme/b' }],
  ])('says what it has, as with %j', async (change, facts) => {
    const all = (await shown(change)).facts;
    expect(all).toMatchObject(facts);
    expect(Object.hasOwn(all, 'Not allowed')).toBe(!Object.hasOwn(facts, 'Allowed'));
  });

  it('has the state of each version', async () => {
    const keys = { 3: made(3), 4: made(4), 5: made(5) };
    const all = { latest_version: 5, min_decryption_version: 3, keys };
    const states = async (change: object) =>
      (await shown({ ...all, ...change })).versions?.rows.map(([version, , state]) => `${version} ${state}`);
    const retired = '1-2 retired (below min-decryption-version)';
    expect(await states({})).toEqual(['5 latest', '4 enabled', '3 enabled', retired]);
    expect(await states({ revoked_versions: [4], destroyed_versions: [3] })).toEqual([
      '5 latest',
      '4 revoked',
      '3 destroyed',
      retired,
    ]);
    // Those below are retired as well, and not told twice.
    expect(await states({ revoked_versions: [1], destroyed_versions: [2] })).toEqual(await states({}));
    expect(await states({ messages: { 5: 1_000_000 } })).toContain('5 latest, about 1000000 messages');
    expect(await states({ min_available_version: 2 })).toContain('2 retired (below min-decryption-version)');
    expect(await states({ min_available_version: 3 })).toHaveLength(3);
    expect(await states({ keys: { ...keys, 2: made(2) } })).toContain('2 disabled');
  });

  it('has ten versions, and how many there are before them', async () => {
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [index + 1, made(1)]));
    const of = async (count: number) => (await shown({ latest_version: count, keys: keys(count) })).versions;
    const settings = 'settings: coffer transit keys read k -o wide';
    expect(await of(10)).toMatchObject({ rows: { length: 10 }, summary: `All ${settings}` });
    expect(await of(11)).toMatchObject({
      rows: { length: 10 },
      summary: `1 older versions, and all ${settings}`,
    });
  });
});

describe('a list of keys', () => {
  const failing = (kind: ErrorKind) => () => {
    throw new CofferError(kind, 'on purpose');
  };
  const reading = (answers: Readonly<Record<string, () => object>>, asked: string[] = []) =>
    ({
      run: async (_: string, { name }: { name: string }) => {
        asked.push(name);
        return { data: (answers[name] ?? (() => PLAIN))() };
      },
    }) as unknown as Runner;
  const rowsOf = async (keys: readonly string[], from: Runner, wide = false) =>
    (await keyListTable({ keys }, { runner: from, wide }))[0];

  it('shows what each is, but of one that is damaged or gone by now', async () => {
    const from = reading({
      gone: failing('not-found'),
      hurt: failing('corrupt'),
      old: () => ({ ...PLAIN, soft_deleted: true }),
    });
    expect((await rowsOf(['a', 'gone', 'hurt', 'old'], from))?.rows.map((row) => row.slice(0, 3))).toEqual([
      ['a', 'aes256-gcm96', '1'],
      ['gone', '', ''],
      ['hurt', 'damaged', ''],
      ['old', 'aes256-gcm96 (deleted)', '1'],
    ]);
    expect((await rowsOf(['hurt', 'a'], from, true))?.rows.map((row) => row.slice(0, 2))).toEqual([
      ['hurt', ''],
      ['a', 'aes256-gcm96'],
    ]);
  });

  it('asks for no more than one that may not be read, and then shows names alone', async () => {
    const asked: string[] = [];
    const names = Array.from({ length: 30 }, (_, index) => `k${index}`);
    const table = await rowsOf(names, reading({ k0: failing('denied') }, asked));
    expect([table?.head, table?.rows.length, asked]).toEqual([['Name'], 30, ['k0']]);
    asked.length = 0;
    const some = await rowsOf(names, reading({ k3: failing('denied') }, asked));
    expect([some?.head.length, asked.length]).toEqual([5, 9]);
  });

  it('fails where the store does', async () => {
    await expect(rowsOf(['a'], reading({ a: failing('unavailable') }))).rejects.toThrow('on purpose');
  });

  it('has the names alone of more than a hundred, unless everything is asked for', async () => {
    const keys = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`);
    expect((await rowsOf(keys(100), reading({})))?.head).toHaveLength(5);
    expect((await rowsOf(keys(101), reading({})))?.head).toEqual(['Name']);
    expect((await rowsOf(keys(101), reading({}), true))?.head).toHaveLength(5);
  });
});
