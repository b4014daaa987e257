import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { initStore } from '../../../src/store/administration/init.ts';
import { rekey } from '../../../src/store/administration/slots.ts';
import { issueToken, KEY, openTestStore, type Reply, send, startServer } from '../../servers/serving.ts';
import { Cluster } from './cluster.ts';
import { type Database, newSchema } from './database.ts';
import { whyNoDatabase } from './installed.ts';
import { sharedDatabase } from './run.ts';

const missing = whyNoDatabase();

async function serveAt(location: string) {
  await initStore({ location, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
  const token = await issueToken(location, {});
  const { address, log } = await startServer({ location });
  await send(address, 'POST', '/v1/transit/keys/orders', { token });
  const encrypt = (by: string): Promise<Reply> =>
    send(address, 'POST', '/v1/transit/encrypt/orders', { token: by, body: { plaintext: 'aGVsbG8=' } });
  const statusFor = async (by: string): Promise<number> => (await encrypt(by)).status;
  const revoke = (revoked: string): Promise<Reply> =>
    send(address, 'POST', '/v1/auth/token/revoke', { token, body: { token: revoked } });
  return { address, token, log, encrypt, statusFor, revoke };
}

async function atStore(
  location: string,
  work: (store: Awaited<ReturnType<typeof openTestStore>>) => Promise<unknown>,
): Promise<void> {
  const store = await openTestStore(location);
  try {
    await work(store);
  } finally {
    store.close();
  }
}

describe.skipIf(missing !== undefined)(
  `a server whose database goes back${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let database: Database;
    beforeAll(async () => {
      database = await sharedDatabase();
    });

    it('to a dump from before a rekey and a revocation answers 503 and writes nothing, until the owner accepts it', async () => {
      const schema = newSchema();
      const location = database.location(schema);
      const { address, token, log, encrypt, statusFor, revoke } = await serveAt(location);
      const revoked = await issueToken(location, {});
      expect(await statusFor(revoked)).toBe(200);
      await database.query(
        `CREATE TABLE ${schema}_past_store AS TABLE ${schema}.store; CREATE TABLE ${schema}_past_blob AS TABLE ${schema}.blob`,
      );
      await atStore(location, (store) => rekey(store));
      await revoke(revoked);
      expect([await statusFor(token), await statusFor(revoked)]).toEqual([200, 403]);
      await database.query(
        `BEGIN; DELETE FROM ${schema}.blob; DELETE FROM ${schema}.store; INSERT INTO ${schema}.store SELECT * FROM ${schema}_past_store;
         INSERT INTO ${schema}.blob SELECT * FROM ${schema}_past_blob; COMMIT`,
      );
      const contents = () =>
        database.query(`SELECT s.*, (SELECT count(*) FROM ${schema}.blob) AS blobs FROM ${schema}.store s`);
      const before = await contents();
      const reply = await encrypt(revoked);
      expect([reply.status, reply.json.errors[0]]).toEqual([
        503,
        expect.stringMatching(
          /^the store was rolled back from generation 2, revision \d+ to generation 1, revision \d+$/,
        ),
      ]);
      expect(await statusFor(token)).toBe(503);
      expect((await send(address, 'GET', '/v1/sys/health')).status).toBe(503);
      expect(await contents()).toEqual(before);
      // Somebody who knows nothing works on with it, beyond the number that was seen.
      for (let i = 0; i < 10; i++) await issueToken(location, {});
      expect([await statusFor(token), await statusFor(revoked)]).toEqual([503, 503]);
      expect(log.filter((line) => line.includes('WAS ROLLED BACK'))).toHaveLength(1);
      await atStore(location, (store) => store.accept(0));
      expect([await statusFor(token), await statusFor(revoked)]).toEqual([200, 200]);
      expect((await send(address, 'GET', '/v1/sys/health')).status).toBe(200);
    });

    it('because a standby without the last commits was promoted answers 503 until the owner accepts what is left', async () => {
      const primary = await Cluster.create();
      const standby = await primary.standby();
      onTestFinished(async () => {
        await standby.remove();
        await primary.remove();
      });
      const location = primary
        .location(newSchema())
        .replace('@127.0.0.1', `@127.0.0.1:${standby.port},127.0.0.1`);
      const { token, encrypt, statusFor, revoke } = await serveAt(location);
      const revoked = await issueToken(location, {});
      await primary.query("ALTER SYSTEM SET synchronous_standby_names = ''");
      await primary.query('SELECT pg_reload_conf()');
      await standby.kill();
      await revoke(revoked);
      expect(await statusFor(revoked)).toBe(403);
      await primary.kill();
      await standby.start();
      await standby.promote();
      let reply = await encrypt(revoked);
      for (let i = 0; i < 100 && !/rolled back/.test(reply.text); i++) {
        expect(reply.status).toBe(503);
        reply = await encrypt(revoked);
      }
      expect([reply.status, reply.text]).toEqual([
        503,
        expect.stringContaining('the store was rolled back from'),
      ]);
      await atStore(location, (store) => store.accept(0));
      expect([await statusFor(token), await statusFor(revoked)]).toEqual([200, 200]);
    });
  },
);
