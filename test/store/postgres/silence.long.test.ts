import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { initStore } from '../../../src/store/administration/init.ts';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { PostgresBackend } from '../../../src/store/backends/postgres/postgres-backend.ts';
import { issueToken, KEY, type Reply } from '../../servers/serving.ts';
import { Cluster } from './cluster.ts';
import { newSchema } from './database.ts';
import { DatabaseLine, type Silent } from './database-line.ts';
import { failure } from './document.ts';
import { Member } from './fleet.ts';
import { whyNoDatabase } from './installed.ts';
import { Traffic } from './traffic.ts';

const missing = whyNoDatabase();
/** What docs/postgresql.md promises, and two seconds for a machine that has other things to do. */
const REQUEST_MS = 12_000;
const WRITES_AGAIN_MS = 37_000;
/** Who comes during an outage and is the first in a while waits for a second. */
const AT_ONCE_MS = 3000;

/** One of each kind of request. */
const PROBES = [
  ['GET', 'sys/health'],
  ['GET', 'transit/keys/m0-0'],
  ['POST', 'transit/keys/m0-0/rotate'],
] as const;

describe.skipIf(missing !== undefined)(
  `a server whose database goes silent${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let cluster: Cluster;
    let line: DatabaseLine;
    let location: string;
    let token: string;
    let members: Member[] = [];
    let traffic: Traffic;

    beforeAll(async () => {
      cluster = await Cluster.create();
      location = cluster.location(newSchema());
      await initStore({ location, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
      token = await issueToken(location, {});
    });
    afterAll(() => cluster.remove());
    afterEach(async () => {
      cluster.thaw();
      await Promise.all(members.map((member) => member.stop()));
      members = [];
      line?.close();
    });

    const through = (): string => location.replace(`:${cluster.port}/`, `:${line.port}/`);

    /** A server behind a line of its own, with callers. */
    async function start(): Promise<void> {
      line = await DatabaseLine.to(cluster.port);
      await send([new Member(through())], 4);
    }

    /** Starts servers, with so many callers on each. */
    async function send(to: Member[], callers: number): Promise<void> {
      members = to;
      await Promise.all(members.map((member) => member.start()));
      traffic = new Traffic(token);
      for (const [index, member] of members.entries()) {
        for (let i = 0; i < callers; i++) await ask(member, 'POST', `transit/keys/m${index}-${i}`, {});
        traffic.send(member, `m${index}`, callers);
      }
      await good(0);
    }

    async function ask(
      member: Member | undefined,
      method: string,
      path: string,
      body?: object,
    ): Promise<Reply> {
      const reply = await member?.send(method, path, body, token);
      if (reply === undefined) throw new Error('connection timed out');
      return reply;
    }

    /** Waits until somebody who asked after `moment` has read, and somebody has written. */
    const good = (moment: number): Promise<boolean> =>
      vi.waitUntil(
        () =>
          traffic.goodAfter(moment, 'read') !== undefined && traffic.goodAfter(moment, 'write') !== undefined,
        { timeout: 60_000 },
      );

    /** Ends the traffic some time after it flows again. @returns what callers saw of it. */
    async function outcome(moment: number) {
      await good(moment);
      const again = performance.now();
      await vi.waitUntil(() => traffic.since(again).length > 100, { timeout: 60_000 });
      await traffic.end();
      const seen = {
        longest: traffic.longestAfter(moment),
        read: traffic.goodAfter(moment, 'read'),
        write: traffic.goodAfter(moment, 'write'),
      };
      return seen;
    }

    function expectKept({ longest, read, write }: Awaited<ReturnType<typeof outcome>>): void {
      expect(longest).toBeLessThan(REQUEST_MS);
      expect(read).toBeLessThan(REQUEST_MS);
      expect(write).toBeLessThan(WRITES_AGAIN_MS);
      expect(traffic.statuses.filter((status) => ![409, 503].includes(status) && status >= 300)).toEqual([]);
    }

    it.each<[what: string, silent: Silent]>([
      ['nothing gets through any more', 'both'],
      ['the database is heard no more', 'answers'],
      ['the database hears nothing more', 'requests'],
    ])(
      'answers each request within 10 s and writes again within 35 s when on all its connections %s',
      async (_, silent) => {
        await start();
        const moment = performance.now();
        line.freeze(silent);
        expectKept(await outcome(moment));
      },
    );

    it('writes again within 35 s when another process vanishes with the right to write in its hands', async () => {
      await start();
      const moment = performance.now();
      const behind = await DatabaseLine.to(cluster.port);
      const gone = new PostgresBackend(
        parseAddress(location.replace(`:${cluster.port}/`, `:${behind.port}/`)),
      );
      try {
        const vanished = gone.exclusive(async (session) => {
          behind.freeze('both');
          behind.isHole = true;
          await good(performance.now());
          return session.version;
        });
        // Whoever comes back after all is told that the right to write was lost.
        expect(await failure(() => vanished)).toMatch(/^unavailable: the connection to .* was lost$/);
        expectKept(await outcome(moment));
        expect(traffic.statuses).toEqual([200]);
      } finally {
        gone.close();
        behind.close();
      }
    });

    it('does not know whether a commit was made whose answer never came, and says so within 10 s', async () => {
      line = await DatabaseLine.to(cluster.port);
      const ours = new PostgresBackend(parseAddress(through()));
      const others = new PostgresBackend(parseAddress(location));
      const blob = (name: string) => [
        { ref: { area: 'documents', name }, bytes: Buffer.from(name) } as const,
      ];
      try {
        await ours.exclusive((session) => session.commit(blob('a1')));
        const moment = performance.now();
        const told = await failure(() =>
          ours.exclusive((session) => {
            line.freeze('answers');
            return session.commit(blob('a2'));
          }),
        );
        expect(told).toMatch(/^unconfirmed: the connection to .* was lost while a change was being written$/);
        expect(performance.now() - moment).toBeLessThan(REQUEST_MS);
        // This one was made. Both go on: ours over a new connection.
        const { generation } = await others.state();
        expect(await others.has(generation, { area: 'documents', name: 'a2' })).toBe(true);
        for (const backend of [others, ours])
          await backend.exclusive((session) => session.commit(blob('a3')));
        expect(performance.now() - moment).toBeLessThan(WRITES_AGAIN_MS);
      } finally {
        ours.close();
        others.close();
      }
    });

    it('takes the right to write from no process that still lives, however long it needs', async () => {
      const ours = new PostgresBackend(parseAddress(location));
      try {
        // Longer than the database bears with one of whom it hears nothing.
        await ours.exclusive(async (session) => {
          await sleep(9000);
          await session.commit([{ ref: { area: 'documents', name: 'b1' }, bytes: Buffer.from('b1') }]);
        });
        expect(await ours.has(1, { area: 'documents', name: 'b1' })).toBe(true);
      } finally {
        ours.close();
      }
    });

    it.each<[how: string, act: () => void]>([
      ['are cut', () => line.cut()],
      ['go silent', () => line.freeze('both')],
    ])(
      'answers 503 within 10 s and then at once when its connections %s and new ones lead nowhere, until they do',
      async (_, act) => {
        await start();
        line.isHole = true;
        const moment = performance.now();
        act();
        await vi.waitUntil(() => traffic.since(moment).filter(({ status }) => status === 503).length > 40, {
          timeout: 60_000,
        });
        expect(traffic.longestAfter(moment)).toBeLessThan(REQUEST_MS);
        const later = performance.now();
        for (const [method, path] of PROBES) {
          expect((await ask(members[0], method, path, method === 'POST' ? {} : undefined)).status).toBe(503);
        }
        const refused = traffic.since(later).filter(({ from }) => from > later);
        expect(Math.max(...refused.map(({ from, to }) => to - from))).toBeLessThan(AT_ONCE_MS);
        line.isHole = false;
        const again = performance.now();
        expectKept(await outcome(again));
      },
    );

    it('answers 503 while the whole database stands still, and goes on when it does', async () => {
      await start();
      const moment = performance.now();
      cluster.freeze();
      await vi.waitUntil(() => traffic.since(moment).filter(({ status }) => status === 503).length > 40, {
        timeout: 60_000,
      });
      expect(traffic.longestAfter(moment)).toBeLessThan(REQUEST_MS);
      cluster.thaw();
      expectKept(await outcome(performance.now()));
    });

    it('goes on while nobody takes new connections', async () => {
      await start();
      cluster.freeze('postmaster');
      const moment = performance.now();
      expectKept(await outcome(moment));
      expect(traffic.statuses).toEqual([200]);
    });

    it('goes on with a promoted standby when the primary stands still', async () => {
      const primary = await Cluster.create();
      const standby = await primary.standby();
      try {
        const at = primary
          .location(newSchema())
          .replace('@127.0.0.1:', `@127.0.0.1:${primary.port},127.0.0.1:`)
          .replace(`,127.0.0.1:${primary.port}`, `,127.0.0.1:${standby.port}`);
        await initStore({ location: at, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
        token = await issueToken(at, {});
        line = await DatabaseLine.to(primary.port);
        await send([new Member(at), new Member(at)], 2);
        const moment = performance.now();
        primary.freeze();
        await standby.promote();
        expectKept(await outcome(moment));
        // What was acknowledged before is there.
        for (const [index, member] of members.entries()) {
          for (let i = 0; i < 2; i++) {
            const { latest_version: version } = (await ask(member, 'GET', `transit/keys/m${index}-${i}`)).json
              .data;
            expect(version).toBeGreaterThan(traffic.acknowledged(`m${index}-${i}`));
          }
        }
      } finally {
        await Promise.all(members.map((member) => member.stop()));
        members = [];
        primary.thaw();
        await standby.remove();
        await primary.remove();
      }
    });
  },
);
