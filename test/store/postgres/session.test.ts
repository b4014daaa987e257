import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Blob, Change } from '../../../src/store/backends/backend.ts';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import {
  firstOf,
  hasOtherSession,
  hearing,
  Sessions,
} from '../../../src/store/backends/postgres/connection.ts';
import { PoolerError, SilenceError } from '../../../src/store/backends/postgres/database-errors.ts';
import { migrateSchema } from '../../../src/store/backends/postgres/schema.ts';
import { PostgresSession } from '../../../src/store/backends/postgres/session.ts';
import { StoreLock } from '../../../src/store/backends/postgres/store-lock.ts';
import { refused } from '../../refusal.ts';
import { coded, type FakeAnswer, FakeClient } from './fake-client.ts';

const address = parseAddress('postgres://coffer@db.example/keys?schema=mine');
const AT = { generation: 3, revision: 7, id: 'seven' };
const ROW = { generation: '3', revision: '7', commit: 'seven' };
const blob = (name: string, bytes = 1): Blob => ({
  ref: { area: 'documents', name },
  bytes: Buffer.alloc(bytes, 1),
});
const gone = (name: string): Change => ({ ref: { area: 'documents', name }, bytes: undefined });

/** A session whose statements are answered so; the lock is held unless a statement about it is answered otherwise. */
function session(answers: Readonly<Record<string, () => FakeAnswer>> = {}) {
  const client: FakeClient = new FakeClient(({ name }) => {
    const answer = answers[name ?? client.said.at(-1) ?? ''];
    if (answer !== undefined) return answer();
    if (name === 'unlock') return [{ held: true }];
    if (name === 'locked state') return [ROW];
    return [{}];
  });
  const lock = new StoreLock(client.asClient, address, { waitMs: 0, silenceMs: 6000 });
  return { client, lock, session: new PostgresSession(client.asClient, address, lock, AT) };
}

describe('a commit to a database', () => {
  beforeEach(() => {
    // No pause before another try.
    vi.spyOn(Math, 'random').mockReturnValue(0);
  });

  it('of nothing is none', async () => {
    const { client, session: writing } = session();
    expect(await writing.commit([])).toEqual({ generation: 3, revision: 7 });
    expect(await writing.commit([], { isLast: true })).toEqual({ generation: 3, revision: 7 });
    expect([client.asked, writing.hasProof]).toEqual([[], false]);
  });

  it.each<[string, readonly Change[], string, readonly unknown[]]>([
    ['one blob', [blob('aa')], 'write one', ['documents', 'aa', Buffer.from([1])]],
    ['a removal', [gone('aa')], 'change', [[], [], [], ['documents'], ['aa']]],
    [
      'both',
      [blob('aa'), gone('bb')],
      'change',
      [['documents'], ['aa'], [Buffer.from([1])], ['documents'], ['bb']],
    ],
  ])(
    'of %s is one statement, which holds it to the commit that it follows',
    async (_, changes, name, content) => {
      const { client, session: writing } = session();
      expect(await writing.commit(changes)).toEqual({ generation: 3, revision: 8 });
      expect(client.said).toEqual([name]);
      const [generation, revision, id, next, nextId, ...rest] = client.asked[0]?.values ?? [];
      expect([generation, revision, id, next, rest]).toEqual([3, 7, 'seven', 8, content]);
      expect(writing.at).toEqual({ generation: 3, revision: 8, id: nextId });
      expect(writing.hasProof).toBe(true);
      await writing.commit(changes);
      expect(client.asked[1]?.values?.slice(0, 4)).toEqual([3, 8, nextId, 9]);
    },
  );

  it('may take longer from a mebibyte on, which the database is told first', async () => {
    const said = async (...sizes: readonly number[]) => {
      const { client, session: writing } = session();
      await writing.commit(sizes.map((bytes, index) => blob(`a${index}`, bytes)));
      return client.said;
    };
    const MIB = 2 ** 20;
    expect(await said(MIB)).toEqual(['write one']);
    expect(await said(MIB + 1)).toEqual(['SELECT', 'write one']);
    expect(await said(MIB, 1)).toEqual(['SELECT', 'change']);
  });

  it('that is the last gives the lock back, and nothing is written after it', async () => {
    const { client, session: writing } = session();
    await writing.commit([blob('aa')], { isLast: true });
    expect(client.said).toEqual(['write one', 'unlock']);
    expect(await writing.release()).toBe(true);
    expect(client.said).toHaveLength(2);
    await expect(writing.commit([blob('bb')])).rejects.toThrow('after its last commit');
  });

  it('raises a revision by itself', async () => {
    const { client, session: writing } = session();
    await writing.raise(20);
    expect([client.asked[0]?.values?.slice(0, 4), writing.version]).toEqual([
      [3, 7, 'seven', 20],
      { generation: 3, revision: 20 },
    ]);
  });

  it('over that of another writer changes nothing, and proves nothing', async () => {
    const { session: writing } = session({ 'write one': () => [] });
    expect(await refused(writing.commit([blob('aa')]))).toMatchObject({
      kind: 'unavailable',
      message: 'another process changed postgres://coffer@db.example/keys?schema=mine',
    });
    expect([writing.at, writing.hasProof]).toEqual([AT, false]);
  });

  it.each<[string, Error, string, RegExp]>([
    ['a reset', coded('ECONNRESET'), 'unconfirmed', /was lost while a change was being written$/],
    ['a shutdown', coded('57P01'), 'unconfirmed', /was lost while a change was being written$/],
    ['silence', new SilenceError(), 'unconfirmed', /was lost while a change was being written$/],
    ['a full disk', coded('53100'), 'unavailable', /the disk of the database is full$/],
    ['a refusal to write', coded('25006'), 'unavailable', /the database is read-only$/],
    ['a change of the tables', coded('42P01'), 'corrupt', /^the tables in .* were modified/],
  ])('after %s ends with what is known of it', async (_, error, kind, message) => {
    const { session: writing } = session({ 'write one': () => error });
    expect(await refused(writing.commit([blob('aa')]))).toMatchObject({
      kind,
      message: expect.stringMatching(message),
    });
    expect([writing.at, writing.hasProof]).toEqual([AT, false]);
  });

  it('that gave way to another transaction is tried five times', async () => {
    const answers: FakeAnswer[] = Array.from({ length: 4 }, () => coded('40001'));
    const { client, session: writing } = session({ 'write one': () => answers.shift() ?? [{}] });
    expect(await writing.commit([blob('aa')])).toMatchObject({ revision: 8 });
    expect(client.said).toHaveLength(5);
    const never = session({ 'write one': () => coded('40P01') });
    expect(await refused(never.session.commit([blob('aa')]))).toMatchObject({ kind: 'unavailable' });
    expect(never.client.said).toHaveLength(5);
  });

  it.each<[string, FakeAnswer, boolean]>([
    ['nobody else came', [ROW], true],
    ['another writer came', [{ ...ROW, commit: 'another' }], false],
    ['the store went', [], false],
  ])('that was the last takes the lock again, and is tried again only if %s', async (_, state, isDone) => {
    const answers: FakeAnswer[] = [coded('40001')];
    const { client, session: writing } = session({
      'write one': () => answers.shift() ?? [{}],
      'locked state': () => state,
    });
    const asked = writing.commit([blob('aa')], { isLast: true });
    if (isDone) expect(await asked).toMatchObject({ revision: 8 });
    else expect(await refused(asked)).toMatchObject({ message: expect.stringMatching(/^another process/) });
    const again = ['lock', 'locked state'];
    expect(client.said).toEqual(
      ['write one', 'unlock', ...again].concat(isDone ? ['write one', 'unlock'] : []),
    );
    await writing.release();
  });
});

describe('a whole new generation', () => {
  async function* blobs(failure?: Error) {
    yield blob('aa');
    if (failure !== undefined) throw failure;
  }

  it('takes the place of the old one in one transaction', async () => {
    const { client, session: writing } = session();
    expect(await writing.replaceGeneration(blobs())).toEqual({ generation: 4, revision: 8 });
    expect(client.said).toEqual(['BEGIN', 'insert blobs', 'UPDATE', 'DELETE', 'COMMIT']);
    expect(client.asked[1]?.values?.[0]).toBe(4);
    expect(client.asked[2]?.values).toEqual([4, 8, expect.any(String), 3, 7, 'seven']);
    expect(client.asked[3]?.values).toEqual([3]);
  });

  it.each<[string, Readonly<Record<string, () => FakeAnswer>>, Error | undefined, object]>([
    ['another writer came', { UPDATE: () => [] }, undefined, { kind: 'unavailable' }],
    ['a blob cannot be had', {}, new Error('no blob'), { message: 'no blob' }],
    ['rows are refused', { 'insert blobs': () => coded('53100') }, undefined, { kind: 'unavailable' }],
    ['the connection breaks at last', { COMMIT: () => coded('EPIPE') }, undefined, { kind: 'unconfirmed' }],
    ['the disk fills up', { COMMIT: () => coded('53100') }, undefined, { kind: 'unavailable' }],
    [
      'taking back fails as well',
      { DELETE: () => coded('53100'), ROLLBACK: () => coded('08006') },
      undefined,
      { kind: 'unavailable' },
    ],
  ])('is taken back where %s', async (_, answers, failure, error) => {
    const { client, session: writing } = session(answers);
    await expect(writing.replaceGeneration(blobs(failure))).rejects.toMatchObject(error);
    expect(client.said.at(-1)).toBe('ROLLBACK');
    expect([writing.at, writing.hasProof]).toEqual([AT, false]);
  });
});

describe('the lock of a store in a database', () => {
  it('tells the commit that was seen under it, or that there is no store', async () => {
    const { client, lock } = session();
    expect(await lock.take()).toEqual(AT);
    expect(client.asked[0]?.text).toContain("'mine.store'::regclass");
    expect(client.asked[0]?.text).toContain("set_config('idle_session_timeout', '6000', false)");
    await lock.release();
    const none = session({ 'locked state': () => [] });
    expect(await none.lock.take()).toBeUndefined();
    await none.lock.release();
  });

  it('is given back where the store cannot be read under it', async () => {
    const { client, lock } = session({ 'locked state': () => coded('42P01') });
    await expect(lock.take()).rejects.toMatchObject({ code: '42P01' });
    expect(client.said).toEqual(['lock', 'locked state', 'unlock']);
  });

  it('is not waited for after another error than that of its time', async () => {
    const { client, lock } = session({ lock: () => coded('57014') });
    await expect(lock.take()).rejects.toMatchObject({ code: '57014' });
    expect(client.said).toEqual(['lock', 'locked state']);
  });

  it('is waited for in turns, and in the end it is said who has it', async () => {
    const turns: FakeAnswer[] = [coded('55P03'), coded('55P03')];
    const client = new FakeClient(({ name }) =>
      name === 'lock' ? (turns.shift() ?? [{}]) : name === 'locked state' ? [ROW] : [{ session: '' }],
    );
    const patient = new StoreLock(client.asClient, address, { waitMs: 60_000, silenceMs: 6000 });
    expect(await patient.take()).toEqual(AT);
    await patient.release();
    const busy = session({ lock: () => coded('55P03'), SELECT: () => [{ session: '' }] });
    expect(await refused(busy.lock.take())).toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/^timed out after 0s waiting for .*, locked by another process$/),
    });
    const pooled = session({ lock: () => coded('55P03'), SELECT: () => [{ session: 'of another' }] });
    await expect(pooled.lock.take()).rejects.toBeInstanceOf(PoolerError);
  });

  it.each<[FakeAnswer, boolean]>([
    [[{ held: true }], true],
    [[{ held: false }], false],
    [[{ held: null }], false],
    [[], false],
    [coded('08006'), false],
  ])('was held all along only if the database says so: %j', async (answer, isHeld) => {
    expect(await session({ unlock: () => answer }).lock.release()).toBe(isHeld);
  });
});

describe('a connection to a database', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is cut when nothing at all comes for as long as was said, and not while something does', async () => {
    const client = new FakeClient(() => undefined);
    const asked = Promise.withResolvers<string>();
    const heard = hearing(client.asClient, 1000, () => asked.promise);
    await vi.advanceTimersByTimeAsync(999);
    client.stream.bytesRead = 5;
    await vi.advanceTimersByTimeAsync(1001);
    expect(client.stream.destroyedWith).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1001);
    expect(client.stream.destroyedWith).toBeInstanceOf(SilenceError);
    asked.resolve('done');
    expect(await heard).toBe('done');
  });

  it('is left alone once it has answered', async () => {
    const client = new FakeClient(() => undefined);
    await hearing(client.asClient, 1000, async () => 'done');
    await vi.advanceTimersByTimeAsync(5000);
    expect([client.stream.destroyedWith, vi.getTimerCount()]).toEqual([undefined, 0]);
  });

  it('has a session of its own, or is behind a pooler', async () => {
    const alive = new FakeClient(() => [{}]);
    const dead = new FakeClient(() => coded('EPIPE'));
    const sessions = new Sessions();
    await sessions.admit(dead.asClient);
    await sessions.admit(alive.asClient);
    await sessions.admit(alive.asClient);
    await expect(sessions.admit(new FakeClient(() => [{}]).asClient)).rejects.toBeInstanceOf(PoolerError);
    const others = new Sessions();
    await others.admit(alive.asClient);
    others.forget(dead.asClient);
    await expect(others.admit(dead.asClient)).rejects.toBeInstanceOf(PoolerError);
    others.forget(dead.asClient);
    await others.admit(alive.asClient);
    expect(await hasOtherSession(dead.asClient)).toBe(false);
  });

  it('is the first that comes about, and the others are closed or tell why there is none', async () => {
    const late = Promise.withResolvers<string>();
    const discarded: string[] = [];
    const first = firstOf(
      [() => late.promise, async () => 'second'],
      100,
      (errors) => errors,
      (one) => discarded.push(one),
    );
    await vi.advanceTimersByTimeAsync(100);
    expect(await first).toBe('second');
    late.resolve('late');
    await vi.advanceTimersByTimeAsync(0);
    expect(discarded).toEqual(['late']);
    const failing = (...words: readonly string[]) =>
      firstOf(
        words.map((word) => () => Promise.reject(new Error(word))),
        100,
        (errors) => errors.map((error) => (error as Error).message),
        () => undefined,
      );
    await expect(failing('a', 'telling', 'b')).rejects.toEqual(['a', 'telling', 'b']);
  });
});

it('tables are made in a schema that is there, which their role need not be allowed to make', async () => {
  const made = async (version: boolean, schema: boolean) => {
    const client = new FakeClient(({ text }) => {
      if (text.includes('mine.version'))
        return text.includes('to_regclass') ? [{ found: version }] : [{ version: 1, usable_from: 1 }];
      return [{ found: text.includes('to_regnamespace') && schema }];
    });
    const migration = await migrateSchema(client.asClient, address);
    return [migration, client.said.filter((word) => word === 'CREATE').length] as const;
  };
  expect(await made(false, true)).toEqual([{ from: 0, to: 1 }, 1]);
  expect(await made(false, false)).toEqual([{ from: 0, to: 1 }, 2]);
  expect(await made(true, false)).toEqual([{ from: 1, to: 1 }, 0]);
});
