import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { initStore } from '../../../src/store/administration/init.ts';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { PATIENCE } from '../../../src/store/backends/postgres/connection.ts';
import { PostgresBackend } from '../../../src/store/backends/postgres/postgres-backend.ts';
import { issueToken, KEY, type Reply } from '../../servers/serving.ts';
import { Cluster } from './cluster.ts';
import { type Database, newSchema } from './database.ts';
import { DatabaseLine, type Silent } from './database-line.ts';
import { failure } from './document.ts';
import { LocalMember } from './fleet.ts';
import { whyNoDatabase } from './installed.ts';
import { beImpatient, beUsual, shorten } from './patience.ts';
import { sharedDatabase } from './run.ts';
import { Traffic } from './traffic.ts';

const missing = whyNoDatabase();
/** What docs/postgresql.md promises. */
const REQUEST_MS = 10_000;
const WRITES_AGAIN_MS = 35_000;
/** So many requests are looked at before and after something happens. */
const SOME = 10;

/** One of each kind of request. */
const PROBES = [
  ['GET', 'sys/health'],
  ['GET', 'transit/keys/m0-0'],
  ['POST', 'transit/keys/m0-0/rotate'],
] as const;

const blob = (name: string) => [{ ref: { area: 'documents', name }, bytes: Buffer.from(name) } as const];

it('the limits on silence add up to less than what a request and a writer are promised', () => {
  const { answerMs, commitMs, outageMs, laterMs, holderSilenceMs, signOfLifeMs, lockTurnMs } = PATIENCE;
  expect(answerMs + outageMs + laterMs).toBeLessThan(REQUEST_MS);
  expect(commitMs + outageMs).toBeLessThan(REQUEST_MS);
  expect(holderSilenceMs + answerMs + outageMs).toBeLessThan(WRITES_AGAIN_MS);
  // One sign of life may come late, and a wait for others is no silence.
  expect(2 * signOfLifeMs).toBeLessThan(holderSilenceMs);
  expect(lockTurnMs).toBeLessThan(answerMs);
});

// With the true limits, and how long things take: silence.long.test.ts.
describe.skipIf(missing !== undefined)(
  `a server whose database goes silent, with less patience${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let database: Database;
    let line: DatabaseLine | undefined;
    let location: string;
    let token: string;
    let members: LocalMember[] = [];
    let traffic: Traffic;

    beforeAll(async () => {
      database = await sharedDatabase();
      location = database.location(newSchema());
      await initStore({ location, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
      token = await issueToken(location, {});
    });
    afterEach(async () => {
      await traffic?.end();
      await Promise.all(members.map((member) => member.stop()));
      members = [];
      line?.close();
      line = undefined;
    });

    const newLine = async (): Promise<DatabaseLine> => {
      line = await DatabaseLine.to(database.port);
      return line;
    };
    const through = ({ port }: DatabaseLine): string => location.replace(`:${database.port}/`, `:${port}/`);

    /** Starts servers, with so many callers on each. */
    async function start(to: readonly string[], callers: number): Promise<void> {
      members = to.map((at) => new LocalMember(at));
      await Promise.all(members.map((member) => member.start()));
      traffic = new Traffic(token);
      for (const [index, member] of members.entries()) {
        for (let i = 0; i < callers; i++) await member.ask('POST', `transit/keys/m${index}-${i}`, {}, token);
        traffic.send(member, `m${index}`, callers);
      }
      await good();
    }

    /** Waits until somebody who asks after this has read, and somebody has written. */
    const good = async (moment = performance.now()): Promise<void> => {
      await vi.waitUntil(
        () =>
          traffic.goodAfter(moment, 'read') !== undefined && traffic.goodAfter(moment, 'write') !== undefined,
        { timeout: 50_000 },
      );
    };

    /** Every request is answered, and none in any other way than these. */
    async function endOfTraffic(): Promise<readonly number[]> {
      await traffic.end();
      return traffic.statuses.filter((status) => ![409, 503].includes(status) && status >= 300);
    }

    it.each<[what: string, silent: Silent]>([
      ['nothing gets through any more', 'both'],
      ['the database is heard no more', 'answers'],
      ['the database hears nothing more', 'requests'],
    ])('answers each request, reads and writes again when on all its connections %s', async (_, silent) => {
      const silenced = await newLine();
      beImpatient();
      await start([through(silenced)], 2);
      silenced.freeze(silent);
      await good();
      expect(await endOfTraffic()).toEqual([]);
    });

    it('refuses nothing when another process vanishes with the right to write in its hands, and writes once the database has taken it back', async () => {
      const behind = await newLine();
      const gone = new PostgresBackend(parseAddress(through(behind)));
      try {
        shorten({ holderSilenceMs: 300 });
        const vanished = gone.exclusive(async (session) => {
          beUsual();
          behind.freeze('both');
          behind.isHole = true;
          await start([location], 2);
          expect(await endOfTraffic()).toEqual([]);
          expect(traffic.statuses).toEqual([200]);
          shorten({ answerMs: 50 });
          return session.version;
        });
        // Whoever comes back after all is told that the right to write was lost.
        expect(await failure(() => vanished)).toMatch(/^unavailable: the connection to .* was lost$/);
      } finally {
        gone.close();
      }
    });

    it('does not know whether a commit was made whose answer never came, and says so', async () => {
      const ours = new PostgresBackend(parseAddress(through(await newLine())));
      const others = new PostgresBackend(parseAddress(location));
      try {
        await ours.exclusive((session) => session.commit(blob('a1')));
        const told = await failure(() =>
          ours.exclusive((session) => {
            line?.freeze('answers');
            shorten({ commitMs: 50 });
            return session.commit(blob('a2'));
          }),
        );
        expect(told).toMatch(/^unconfirmed: the connection to .* was lost while a change was being written$/);
        beUsual();
        // This one was made: the lock is free when the database has done all that it got. Both go on, ours over a new connection.
        await others.exclusive(async () => undefined);
        const { generation } = await others.state();
        expect(await others.has(generation, { area: 'documents', name: 'a2' })).toBe(true);
        for (const backend of [others, ours])
          await backend.exclusive((session) => session.commit(blob('a3')));
      } finally {
        ours.close();
        others.close();
      }
    });

    it('lets the database know that it is still there, as often as need be, while it holds the right to write', async () => {
      const watched = await newLine();
      const ours = new PostgresBackend(parseAddress(through(watched)));
      try {
        shorten({ signOfLifeMs: 10 });
        await ours.exclusive(async (session) => {
          const before = watched.requests;
          await vi.waitUntil(() => watched.requests > before + 5, { timeout: 50_000 });
          await session.commit(blob('b1'));
        });
        expect(await ours.has(1, { area: 'documents', name: 'b1' })).toBe(true);
      } finally {
        ours.close();
      }
    });

    it.each<[how: string, act: (line: DatabaseLine) => void]>([
      ['are cut', (cut) => cut.cut()],
      ['go silent', (silenced) => silenced.freeze('both')],
    ])(
      'answers 503 to everything when its connections %s and new ones lead nowhere, until they do',
      async (_, act) => {
        const broken = await newLine();
        beImpatient();
        await start([through(broken)], 2);
        broken.isHole = true;
        const moment = performance.now();
        act(broken);
        const isRefused = () => traffic.since(moment).filter(({ status }) => status === 503).length > SOME;
        await vi.waitUntil(isRefused, { timeout: 50_000 });
        for (const [method, path] of PROBES) {
          const reply = await members[0]?.send(method, path, method === 'POST' ? {} : undefined, token);
          expect([path, reply?.status]).toEqual([path, 503]);
        }
        broken.isHole = false;
        await good();
        expect(await endOfTraffic()).toEqual([]);
      },
    );

    it('answers 503 and says why while the database refuses connections, also to what it has in its cache', async () => {
      const closed = await newLine();
      beImpatient();
      await start([through(closed)], 1);
      await traffic.end();
      closed.close();
      for (const _ of [1, 2, 3]) {
        const reply: Reply | undefined = await members[0]?.send('GET', 'transit/keys/m0-0', undefined, token);
        expect([reply?.status, reply?.text]).toEqual([503, expect.stringContaining('connection refused')]);
      }
    });

    it('goes on with a promoted standby when the primary stands still', async () => {
      const primary = await Cluster.create();
      const standby = await primary.standby();
      try {
        const at = primary
          .location(newSchema())
          .replace(`:${primary.port}/`, `:${primary.port},127.0.0.1:${standby.port}/`);
        await initStore({ location: at, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
        token = await issueToken(at, {});
        beImpatient();
        await start([at, at], 1);
        primary.freeze();
        await standby.promote();
        await good();
        expect(await endOfTraffic()).toEqual([]);
        // What was acknowledged is there.
        for (const [index, member] of members.entries()) {
          const key = `m${index}-0`;
          const { latest_version: version } = (
            await member.ask('GET', `transit/keys/${key}`, undefined, token)
          ).json.data;
          expect(version).toBeGreaterThan(traffic.acknowledged(key));
        }
      } finally {
        await traffic.end();
        await Promise.all(members.map((member) => member.stop()));
        members = [];
        await standby.remove();
        await primary.remove();
      }
    });
  },
);
