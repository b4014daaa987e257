import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { Offer } from '../../../src/access/doors.ts';
import { answerInTurn, goneSignal, hungUpSignal } from '../../../src/doors/agent/connections.ts';
import { type Desk, memberOf, plaintextIn, signatureIn } from '../../../src/doors/agent/desk.ts';
import { OfferedKeys } from '../../../src/doors/agent/pkcs11/keys.ts';
import { PublicKeys } from '../../../src/doors/agent/public-keys.ts';
import { OfferedVersions } from '../../../src/doors/agent/ssh/ssh-door.ts';
import { CofferError, type ErrorKind } from '../../../src/ground/errors.ts';
import type { Outcome } from '../../../src/operations/declaration/operation.ts';
import { refusal, refused } from '../../refusal.ts';
import { doubleKeys, publicText } from './desk.double.ts';

const [ed = '', ec = '', rsa = ''] = doubleKeys.map(publicText);
const version = (public_key: unknown, more: object = {}) => ({ public_key, ...more });

const offer = (
  key: string,
  uses: readonly string[] = ['sign', 'decrypt', 'login'],
  mount = 'transit',
): Offer => ({
  mount,
  key,
  uses,
  confirm: false,
});

/** A store in which each key reads as this, or fails. */
const reading = (answers: Readonly<Record<string, unknown>>, offers: readonly Offer[] = []): Desk => ({
  offers: async () => offers,
  run: async (_operation, { name }) => {
    const data = answers[String(name)];
    if (data instanceof Error) throw data;
    return { data } as Outcome<unknown>;
  },
  consent: async () => undefined,
  defect: () => undefined,
});
const failing = (kind: ErrorKind) => new CofferError(kind, 'on purpose');

describe('the keys that ssh is offered', () => {
  const listed = async (answers: Readonly<Record<string, unknown>>, ...offers: readonly Offer[]) =>
    (await new OfferedVersions(reading(answers)).list(offers)).versions.map(({ comment }) => comment);

  it('are the versions that may sign, the latest of each key first, with the mount of each', async () => {
    const keys = { 1: version(ed), 2: version(ed), 3: version(ec) };
    const answers = {
      a: { latest_version: 3, min_encryption_version: 2, keys },
      b: { latest_version: 2, keys },
    };
    expect(await listed(answers, offer('a'), offer('b', ['login'], 'other'))).toEqual([
      'a',
      'other/b@v3',
      'a@v2',
      'other/b',
      'other/b@v1',
    ]);
    expect(await listed({ a: { latest_version: 3, min_encryption_version: 3, keys } }, offer('a'))).toEqual([
      'a',
    ]);
    expect(await listed({ a: { latest_version: 3, min_encryption_version: 4, keys } }, offer('a'))).toEqual(
      [],
    );
  });

  it.each<[string, unknown]>([
    ['derived', { latest_version: 1, derived: true, keys: { 1: version(ed) } }],
    ['soft-deleted', { latest_version: 1, soft_deleted: true, keys: { 1: version(ed) } }],
    ['without versions', { latest_version: 1, keys: [] }],
    ['no key', 'what is this'],
    ['symmetric', { latest_version: 1, keys: { 1: 1_700_000_000 } }],
    ['without a public key', { latest_version: 1, keys: { 1: version('') } }],
    [
      'with damaged keys',
      { latest_version: 1, keys: { 1: version('-----BEGIN PUBLIC KEY-----'), 2: version(7) } },
    ],
  ])('have none that is %s', async (_, data) => {
    expect(
      await listed({ a: data, b: { latest_version: 1, keys: { 1: version(ed) } } }, offer('a'), offer('b')),
    ).toEqual(['b']);
  });

  it('lack those alone that cannot be read, but are not to be had where nothing can', async () => {
    const good = { latest_version: 1, keys: { 1: version(ed) } };
    const kinds = ['not-found', 'denied', 'invalid', 'unsupported', 'corrupt', 'conflict'] as const;
    for (const kind of kinds) {
      expect(await listed({ a: failing(kind), b: good }, offer('a'), offer('b'))).toEqual(['b']);
    }
    for (const kind of ['sealed', 'unavailable'] as const) {
      expect(await refused(listed({ a: failing(kind), b: good }, offer('a'), offer('b')))).toMatchObject({
        kind,
      });
    }
    await expect(listed({ a: new TypeError('a defect') }, offer('a'))).rejects.toThrow('a defect');
  });

  it('follow the offers and the store', async () => {
    const answers: Record<string, unknown> = { a: { latest_version: 1, keys: { 1: version(ed) } } };
    const versions = new OfferedVersions(reading(answers));
    const a = offer('a');
    const first = await versions.list([a]);
    expect(await versions.list([a])).toBe(first);
    const again = await versions.list([offer('a', ['sign'])]);
    expect(again.versions[0]?.offer.uses).toEqual(['sign']);
    answers['a'] = { latest_version: 1, keys: { 1: version(ec) } };
    expect(
      (await versions.list([a])).versions[0]?.blob.equals(first.versions[0]?.blob ?? Buffer.alloc(0)),
    ).toBe(false);
    expect((await versions.list([])).versions).toEqual([]);
  });
});

describe('the keys that PKCS #11 is offered', () => {
  const found = async (data: unknown, uses?: readonly string[]) =>
    new OfferedKeys(reading({ a: data }, [offer('a', uses)])).versions();

  it('sign and decrypt as far as offer, type and version allow', async () => {
    const keys = { 1: version(rsa), 2: version(ec, { certificate_chain: 'chain' }), 3: version(rsa) };
    const data = { latest_version: 3, min_encryption_version: 2, keys };
    const can = async (uses: readonly string[]) =>
      (await found(data, uses)).map(
        (one) =>
          `${one.version}${one.isLatest ? ' latest' : ''}${one.signs ? ' signs' : ''}${one.decrypts ? ' decrypts' : ''}`,
      );
    expect(await can(['sign', 'decrypt'])).toEqual(['3 latest signs decrypts', '2 signs', '1 decrypts']);
    expect(await can(['sign'])).toEqual(['3 latest signs', '2 signs', '1']);
    expect(await can(['decrypt'])).toEqual(['3 latest decrypts', '2', '1 decrypts']);
    expect((await found(data)).map(({ certificateChain }) => certificateChain)).toEqual(['', 'chain', '']);
    // An older server does not tell the limits.
    expect((await found({ keys: { 1: version(rsa) } }))[0]).toMatchObject({ isLatest: false, signs: true });
  });

  it.each<[string, unknown]>([
    ['soft-deleted', { latest_version: 1, soft_deleted: true, keys: { 1: version(rsa) } }],
    ['of a type that it has not', { latest_version: 1, keys: { 1: version(ed) } }],
    ['symmetric', { latest_version: 1, keys: { 1: 1_700_000_000 } }],
    ['damaged', { latest_version: 1, keys: { 1: version('-----BEGIN'), 2: version(undefined), 3: null } }],
    ['no key', { latest_version: 1 }],
    ['gone', failing('not-found')],
    ['not to be read', failing('denied')],
  ])('have none that is %s', async (_, data) => {
    expect(await found(data)).toEqual([]);
  });

  it.each(['sealed', 'unavailable', 'corrupt'] as const)(
    'are not to be had where the store is %s',
    async (kind) => {
      expect(await refused(found(failing(kind)))).toMatchObject({ kind });
    },
  );

  it('are used as long as they are offered, by key and mount, and not for another', async () => {
    const data = { latest_version: 1, keys: { 1: version(rsa) } };
    for (const now of [[], [offer('b')], [offer('a', ['sign'], 'other')]]) {
      const offers = [offer('a')];
      const keys = new OfferedKeys({ ...reading({ a: data, b: data }), offers: async () => offers });
      const [key] = await keys.versions();
      offers.splice(0, 1, ...now);
      if (key === undefined) throw new Error('no key was found');
      const asked = keys.decrypt(key, Buffer.alloc(256), new AbortController().signal);
      expect(await refused(asked)).toMatchObject({ kind: 'denied', message: 'this key is not offered' });
    }
  });
});

it('a public key is a text in PEM, or 32 bytes of Ed25519, and is read once', () => {
  const keys = new PublicKeys();
  expect(keys.read(ec)).toBe(keys.read(ec));
  expect(keys.read(Buffer.alloc(32, 1).toString('base64'))?.asymmetricKeyType).toBe('ed25519');
  for (const none of [undefined, '', 7, {}, '-----', Buffer.alloc(31).toString('base64'), 'AAAA']) {
    expect(keys.read(none)).toBeUndefined();
  }
});

it('an answer of a foreign server has the member that it should, or none is made of it', () => {
  expect(memberOf({ data: { signature: 'a' } }, 'signature')).toBe('a');
  expect(signatureIn({ data: { signature: 'vault:v1:AQI=' } })).toEqual(Buffer.from([1, 2]));
  expect(plaintextIn({ data: { plaintext: '' } })).toEqual(Buffer.alloc(0));
  for (const data of [undefined, null, 'a', [], {}, { plaintext: 7 }, { plaintext: null }]) {
    expect(refusal(() => plaintextIn({ data }))).toMatchObject({
      kind: 'unavailable',
      message: 'unexpected response of the server: it has no plaintext',
    });
  }
});

describe('a connection whose requests are answered in turn', () => {
  /** Requests of one byte each; 0 is none. */
  function served(answer: (request: Buffer) => Promise<Buffer>) {
    const connection = new PassThrough();
    const written: Buffer[] = [];
    connection.write = ((bytes: Buffer) => written.push(bytes) > 0) as typeof connection.write;
    connection.end = vi.fn(() => connection);
    answerInTurn(connection, {
      take: (come) => (come.length === 0 ? undefined : come.take(1)),
      answer,
    });
    return { connection, written };
  }

  it('gets no answer to a request that it has not waited for, and no more are worked on', async () => {
    const asked: number[] = [];
    const { connection, written } = served(async (request) => {
      asked.push(request[0] ?? 0);
      connection.destroy();
      return request;
    });
    connection.emit('data', Buffer.from([1, 2, 3]));
    await vi.waitUntil(() => asked.length > 0, { timeout: 20_000 });
    await Promise.resolve();
    expect([asked, written, connection.destroyed]).toEqual([[1], [], true]);
  });

  it('has its requests answered one after another, and is cut at the first that fails', async () => {
    const asked: number[] = [];
    const { connection, written } = served(async (request) => {
      asked.push(request[0] ?? 0);
      if (request[0] === 3) throw new Error('no');
      return request;
    });
    connection.emit('data', Buffer.from([1]));
    connection.emit('data', Buffer.from([2, 3, 4]));
    await vi.waitUntil(() => connection.destroyed, { timeout: 20_000 });
    expect([asked, Buffer.concat(written)]).toEqual([[1, 2, 3], Buffer.from([1, 2])]);
  });
});

it('whoever waits with both sides open is gone when he has ended his, and others when the connection is closed', () => {
  const connection = new PassThrough();
  const [gone, hungUp] = [goneSignal(connection), hungUpSignal(connection)];
  expect([gone.aborted, hungUp.aborted]).toEqual([false, false]);
  connection.emit('end');
  expect([gone.aborted, hungUp.aborted]).toEqual([false, true]);
  connection.emit('close');
  expect(gone.aborted).toBe(true);
  const other = new PassThrough();
  const signal = hungUpSignal(other);
  other.emit('close');
  expect(signal.aborted).toBe(true);
});
