import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { initStore } from '../../../src/store/administration/init.ts';
import { binary } from '../../e2e/harness.ts';
import { isLong, ofDay, rounds } from '../../long.ts';
import { seeded } from '../../seeded.ts';
import { issueToken, KEY, MASTER_KEY } from '../../servers/serving.ts';
import { Cluster } from './cluster.ts';
import { newSchema } from './database.ts';
import { DatabaseLine } from './database-line.ts';
import { Member } from './fleet.ts';
import { whyNoDatabase } from './installed.ts';

const missing = whyNoDatabase();
const OPERATIONS = isLong ? ofDay(2000) : 20;
const COMMANDS = rounds(20);
const LATE_VERSIONS = isLong ? 20 : 5;
/** One that serves and the database at least. */
const KILLS = isLong ? ofDay(50) : 2;
/** Rotations of each key before and after something happens. */
const SOME = isLong ? 10 : 3;
const PLAINTEXT = Buffer.from('attack at dawn').toString('base64');
const run = promisify(execFile);

/** A key that one writer turns, and what it was told. */
interface Turned {
  readonly name: string;
  acknowledged: number;
  /** Rotations whose outcome nobody was told. */
  unknown: number;
}

describe.skipIf(missing !== undefined)(
  `two servers on one PostgreSQL${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let cluster: Cluster;
    let location: string;
    let token: string;
    let members: readonly [Member, Member];

    const newFleet = async (at: string): Promise<void> => {
      location = at;
      await initStore({ location: at, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
      token = await issueToken(at, {});
      members = [new Member(at), new Member(at)];
      await Promise.all(members.map((member) => member.start()));
    };
    beforeAll(async () => {
      cluster = await Cluster.create();
      await newFleet(cluster.location(newSchema()));
    });
    afterAll(async () => {
      await Promise.all(members?.map((member) => member.stop()) ?? []);
      await cluster?.remove();
    });

    /** An answer that must be good. */
    async function must(member: Member, method: string, path: string, body?: object) {
      const reply = await member.ask(method, path, body, token);
      expect([path, reply.status < 300, reply.text]).toEqual([path, true, reply.text]);
      return reply.json?.data;
    }
    const versionOf = async (member: Member, key: string): Promise<number> =>
      (await must(member, 'GET', `transit/keys/${key}`)).latest_version;
    const other = (member: Member): Member => (member === members[0] ? members[1] : members[0]);

    /** The command, run beside the servers. */
    async function command(...words: string[]): Promise<string> {
      const { stdout } = await run(process.execPath, [binary, ...words], {
        env: { ...process.env, COFFER_STORE: location, COFFER_MASTER_KEY: MASTER_KEY },
      });
      return stdout;
    }

    /** Changes made by one, each followed at once by a look of another, which must see it. */
    const changes = {
      async rotate(member: Member, key: string) {
        const before = await versionOf(other(member), key);
        await must(member, 'POST', `transit/keys/${key}/rotate`);
        const { ciphertext } = await must(other(member), 'POST', `transit/encrypt/${key}`, {
          plaintext: PLAINTEXT,
        });
        expect(ciphertext).toMatch(new RegExp(`^\\w+:v${before + 1}:`));
        expect((await must(member, 'POST', `transit/decrypt/${key}`, { ciphertext })).plaintext).toBe(
          PLAINTEXT,
        );
      },
      async forbid(member: Member, key: string) {
        const latest = await versionOf(other(member), key);
        const { ciphertext } = await must(other(member), 'POST', `transit/encrypt/${key}`, {
          plaintext: PLAINTEXT,
        });
        await must(member, 'POST', `transit/keys/${key}/rotate`);
        await must(member, 'POST', `transit/keys/${key}/config`, { min_decryption_version: latest + 1 });
        const refused = await other(member).ask('POST', `transit/decrypt/${key}`, { ciphertext }, token);
        expect(refused.status).toBe(400);
      },
      async delete(member: Member, key: string, round: number) {
        const name = `${key}-${round}`;
        await must(member, 'POST', `transit/keys/${name}`);
        await must(other(member), 'POST', `transit/keys/${name}/config`, { deletion_allowed: true });
        await must(member, 'DELETE', `transit/keys/${name}`);
        expect((await other(member).ask('GET', `transit/keys/${name}`, undefined, token)).status).toBe(404);
      },
      async revoke(member: Member) {
        const issued = await member.ask('POST', 'auth/token/create', { ttl: '1h' }, token);
        const fresh = issued.json.auth.client_token as string;
        expect((await other(member).ask('GET', 'sys/mounts', undefined, fresh)).status).toBe(200);
        await must(member, 'POST', 'auth/token/revoke', { token: fresh });
        expect((await other(member).ask('GET', 'sys/mounts', undefined, fresh)).status).toBe(403);
      },
    };

    it(`answer from before no acknowledged change, in ${OPERATIONS} operations beside a local command`, async () => {
      const keys = ['one', 'two', 'three', 'four'].map((word) => `mixed-${word}`);
      for (const key of keys) await must(members[0], 'POST', `transit/keys/${key}`);
      await must(members[0], 'POST', 'transit/keys/commanded');
      const kinds = Object.values(changes);
      const working = keys.map(async (key) => {
        const chance = seeded(key);
        for (let i = 0; i < OPERATIONS / keys.length; i++) {
          await chance.pick(kinds)(chance.pick(members), key, i);
        }
      });
      const commanding = (async () => {
        for (let version = 2; version <= COMMANDS + 1; version++) {
          await command('transit', 'keys', 'rotate', 'commanded');
          for (const member of members) expect(await versionOf(member, 'commanded')).toBe(version);
        }
      })();
      await Promise.all([...working, commanding]);
    }, 600_000);

    it('share no answer of the database with those who came after the question was sent', async () => {
      const line = await DatabaseLine.to(cluster.port);
      const slow = new Member(location.replace(`:${cluster.port}/`, `:${line.port}/`));
      try {
        await slow.start();
        await must(members[0], 'POST', 'transit/keys/far');
        line.delayMs = 4;
        let isDone = false;
        // So there is always a question under way.
        const busy = [1, 2, 3].map(async () => {
          while (!isDone) await versionOf(slow, 'far');
        });
        for (let version = 2; version <= LATE_VERSIONS; version++) {
          await must(members[0], 'POST', 'transit/keys/far/rotate');
          expect(await versionOf(slow, 'far')).toBe(version);
        }
        isDone = true;
        await Promise.all(busy);
      } finally {
        await slow.stop();
        line.close();
      }
    });

    it('show nothing in a dump of the database: no key, organization, tag or token', async () => {
      await must(members[0], 'POST', 'transit/keys/conspicuous-key');
      await command('orgs', 'create', 'conspicuous-org');
      await command('tags', 'create', 'conspicuous:tag', '--org', 'conspicuous-org');
      const dump = await cluster.dump();
      expect(dump).toContain('INSERT INTO');
      const forms = (text: string): string[] => [
        text,
        Buffer.from(text).toString('hex'),
        Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -1),
      ];
      for (const secret of ['conspicuous', 'mixed-one', token, token.slice(-20), MASTER_KEY]) {
        for (const form of forms(secret)) expect(dump.includes(form), form).toBe(false);
      }
    });

    /** Turns a key until told to stop; notes what it was told. */
    async function turn(turned: Turned, until: { done: boolean }): Promise<void> {
      const chance = seeded(turned.name);
      await must(members[0], 'POST', `transit/keys/${turned.name}`);
      while (!until.done) {
        const reply = await chance
          .pick(members)
          .send('POST', `transit/keys/${turned.name}/rotate`, {}, token);
        if (reply === undefined || reply.status === 503 || reply.status === 409) {
          turned.unknown++;
          await sleep(20);
          continue;
        }
        expect([reply.status, reply.text]).toEqual([200, reply.text]);
        turned.acknowledged++;
      }
    }

    async function check(turned: readonly Turned[]): Promise<void> {
      for (const { name, acknowledged, unknown } of turned) {
        const versions = [await versionOf(members[0], name), await versionOf(members[1], name)];
        expect(versions[0]).toBe(versions[1]);
        expect(versions[0]).toBeGreaterThanOrEqual(1 + acknowledged);
        expect(versions[0]).toBeLessThanOrEqual(1 + acknowledged + unknown);
      }
    }

    /** Waits until each of them was turned so many times more; bounded by the time that the test has. */
    async function turnedOn(turned: readonly Turned[], times: number): Promise<void> {
      const before = turned.map(({ acknowledged }) => acknowledged);
      const isTurned = () => turned.every(({ acknowledged }, i) => acknowledged >= (before[i] ?? 0) + times);
      await vi.waitUntil(isTurned, { timeout: 100_000 });
    }

    const turnedKeys = (prefix: string): Turned[] =>
      [1, 2, 3].map((n) => ({ name: `${prefix}-${n}`, acknowledged: 0, unknown: 0 }));

    it(`lose nothing acknowledged when servers and the database are killed, ${KILLS} times`, async () => {
      const turned = turnedKeys('killed');
      const until = { done: false };
      const chance = seeded();
      const turning = turned.map((key) => turn(key, until));
      for (let kill = 0; kill < KILLS; kill++) {
        await turnedOn(turned, 1);
        await sleep(chance.below(300));
        const victim = isLong ? chance.pick([...members, cluster]) : kill === 0 ? members[0] : cluster;
        await victim.kill();
        await sleep(chance.below(200));
        await victim.start();
        // Whoever is left comes back by itself.
        for (const member of members) await must(member, 'GET', 'sys/mounts');
      }
      await turnedOn(turned, 1);
      until.done = true;
      await Promise.all(turning);
      await check(turned);
      expect(await command('doctor')).toBe('');
    }, 600_000);

    it.runIf(isLong)('answer 503 within seconds while the database is gone', async () => {
      await cluster.kill();
      try {
        for (const _ of [1, 2, 3]) {
          const reply = await members[0].send('GET', 'transit/keys/mixed-one', undefined, token);
          expect(reply?.status).toBe(503);
          expect(reply?.text).toContain('connection refused');
        }
      } finally {
        await cluster.start();
      }
      await must(members[0], 'GET', 'transit/keys/mixed-one');
      // So long for all three.
    });

    it('go on with a promoted standby', async () => {
      await Promise.all(members.map((member) => member.stop()));
      const standby = await cluster.standby();
      try {
        const pair = cluster
          .location(newSchema())
          .replace('@127.0.0.1', `@127.0.0.1:${standby.port},127.0.0.1`);
        await newFleet(pair);
        const turned = turnedKeys('promoted');
        const until = { done: false };
        const turning = turned.map((key) => turn(key, until));
        await turnedOn(turned, SOME);
        await cluster.kill();
        await standby.promote();
        for (const member of members) await must(member, 'GET', 'sys/mounts');
        await turnedOn(turned, SOME);
        until.done = true;
        await Promise.all(turning);
        await check(turned);
      } finally {
        await Promise.all(members.map((member) => member.stop()));
        await standby.remove();
      }
    });
  },
);
