import { hash, randomUUID } from 'node:crypto';
import { corrupt, placed } from '../../../ground/errors.ts';
import { storeThere } from '../../refusals.ts';
import { type Blob, CREATION_WAIT_MS, type InitialContent, type Version } from '../backend.ts';
import type { CreateOptions, StoreMigration } from '../backend-kind.ts';
import type { PostgresAddress } from './address.ts';
import { MARGIN_MS, PATIENCE, type PostgresClient, SILENCE_MS } from './connection.ts';
import { Connections } from './connections.ts';
import { databaseError } from './database-errors.ts';
import { checkSchema, inBatches, insertBlobs, migrateSchema, printRef } from './schema.ts';
import { StoreLock } from './store-lock.ts';

const STATEMENT_MS = 10 * 60_000;

/**
 * Creates the rows of a new store, and the tables if they are missing. The store exists from the moment its row is
 * marked as ready, after everything was compared with the input.
 * @throws `exists` if there is a store; `unavailable` if the database fails
 */
export async function createInPostgres(
  address: PostgresAddress,
  content: InitialContent,
  { resume = false }: CreateOptions = {},
): Promise<void> {
  await onOwnConnection(address, async (client, second) => {
    // Create nothing if the two connections do not have sessions of their own.
    await second();
    await inTransaction(client, () => migrateSchema(client, address));
    await checkSchema(client, address);
    await new StoreLock(client, address, { waitMs: CREATION_WAIT_MS, silenceMs: SILENCE_MS }).take();
    await beginStore(client, address, content, resume);
    try {
      await publish(client, address, content.version, await fill(client, address, content));
    } catch (error) {
      if (!resume) await discard(client, address).catch(() => undefined);
      throw error;
    }
  });
}

/**
 * Creates the tables, or migrates them to this version.
 * @throws `corrupt` if they are newer; `unavailable` without the required privileges
 */
export const migratePostgres = (address: PostgresAddress): Promise<StoreMigration> =>
  onOwnConnection(address, (client) => inTransaction(client, () => migrateSchema(client, address)));

/**
 * Runs `use` on a connection of its own, which is closed afterwards and releases any lock it holds.
 * @param use receives the connection, and a function that briefly opens a second one
 */
async function onOwnConnection<T>(
  address: PostgresAddress,
  use: (client: PostgresClient, second: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const connections = new Connections(address, {
    connections: 2,
    waitMs: address.connectTimeoutMs,
    statementMs: STATEMENT_MS,
    answerMs: STATEMENT_MS + MARGIN_MS,
    lockMs: () => PATIENCE.lockTurnMs,
  });
  try {
    const { client, giveBack } = await connections.lend(async () => undefined);
    try {
      return await use(client, async () => (await connections.lend(async () => undefined)).giveBack(true));
    } finally {
      giveBack(true);
    }
  } catch (error) {
    throw databaseError(error, address.place);
  } finally {
    connections.close();
  }
}

async function inTransaction<T>(client: PostgresClient, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** SHA-256 digests in hexadecimal, by area and name. */
type Digests = Map<string, string>;

async function beginStore(
  client: PostgresClient,
  address: PostgresAddress,
  { header, version }: InitialContent,
  resume: boolean,
): Promise<void> {
  const { schema, place } = address;
  const { rows } = await client.query<{ readonly ready: boolean; readonly header: Buffer }>(
    `SELECT ready, header FROM ${schema}.store`,
  );
  const [found] = rows;
  if (found?.ready === true) throw storeThere(place);
  if (resume && found?.header.equals(header) === true) return;
  await discard(client, address);
  await client.query(
    `INSERT INTO ${schema}.store (header, generation, revision, commit, ready) VALUES ($1, $2, $3, $4, false)`,
    [Buffer.from(header), version.generation, version.revision, randomUUID()],
  );
}

/** Inserts the blobs that an earlier attempt has not inserted. @returns the digests of all that should be there */
async function fill(
  client: PostgresClient,
  address: PostgresAddress,
  { version: { generation }, blobs }: InitialContent,
): Promise<Digests> {
  const { schema } = address;
  const present = await digestsOf(client, schema, generation);
  const sent: Digests = new Map();
  async function* missing(): AsyncGenerator<Blob> {
    for await (const blob of blobs) {
      const ref = printRef(blob.ref);
      const digest = hash('sha256', blob.bytes);
      sent.set(ref, digest);
      if (present.get(ref) !== digest) yield blob;
    }
  }
  for await (const batch of inBatches(missing())) await insertBlobs(client, schema, generation, batch);
  const surplus = [...present.keys()].filter((ref) => !sent.has(ref));
  if (surplus.length > 0)
    await client.query(
      `DELETE FROM ${schema}.blob WHERE generation = $1 AND area || '/' || name = ANY ($2::text[])`,
      [generation, surplus],
    );
  return sent;
}

/** Makes the store exist, if the database has what was sent. */
async function publish(
  client: PostgresClient,
  { schema, place }: PostgresAddress,
  { generation, revision }: Version,
  sent: Digests,
): Promise<void> {
  const stored = await digestsOf(client, schema, generation);
  const wrong = [...sent].find(([ref, digest]) => stored.get(ref) !== digest)?.[0];
  if (wrong !== undefined || stored.size !== sent.size) {
    throw corrupt(placed`${place} was not stored correctly (${wrong ?? 'extra rows'})`);
  }
  await client.query(
    `WITH others AS (DELETE FROM ${schema}.blob WHERE generation <> $1)
     UPDATE ${schema}.store SET generation = $1, revision = $2, commit = $3, ready = true`,
    [generation, revision, randomUUID()],
  );
}

const discard = (client: PostgresClient, { schema }: PostgresAddress): Promise<unknown> =>
  client.query(`DELETE FROM ${schema}.blob; DELETE FROM ${schema}.store WHERE NOT ready`);

/** Computes the digests of the stored blobs in the database. */
async function digestsOf(client: PostgresClient, schema: string, generation: number): Promise<Digests> {
  const { rows } = await client.query<{ readonly ref: string; readonly digest: string }>(
    `SELECT area || '/' || name AS ref, encode(sha256(bytes), 'hex') AS digest
     FROM ${schema}.blob WHERE generation = $1`,
    [generation],
  );
  return new Map(rows.map(({ ref, digest }) => [ref, digest]));
}
