import { corrupt, type Place, placed, unavailable } from '../../../ground/errors.ts';
import { noStore } from '../../refusals.ts';
import type { Blob, BlobRef } from '../backend.ts';
import type { StoreMigration } from '../backend-kind.ts';
import { errorCode } from '../files/disk-errors.ts';
import type { PostgresAddress } from './address.ts';
import type { PostgresClient } from './connection.ts';

/**
 * Migrations; each creates the next version of the schema from the previous one. `%` is the schema's name. Never
 * changed after a release. Documented in docs/format.md. The fill factor leaves space on each page, so that an updated
 * row fits beside the old one and no index is touched; all but large documents stay in their row.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE %.version (
     single boolean PRIMARY KEY DEFAULT true CHECK (single),
     version integer NOT NULL,
     usable_from integer NOT NULL
   );
   CREATE TABLE %.store (
     single boolean PRIMARY KEY DEFAULT true CHECK (single),
     header bytea NOT NULL,
     generation bigint NOT NULL,
     revision bigint NOT NULL,
     commit uuid NOT NULL,
     ready boolean NOT NULL
   ) WITH (fillfactor = 20);
   CREATE TABLE %.blob (
     generation bigint NOT NULL,
     area text NOT NULL,
     name text NOT NULL,
     bytes bytea NOT NULL,
     PRIMARY KEY (generation, area, name)
   ) WITH (fillfactor = 70, toast_tuple_target = 8160);
   ALTER TABLE %.blob ALTER COLUMN bytes SET STORAGE EXTERNAL;
   INSERT INTO %.version (version, usable_from) VALUES (1, 1)`,
];

/** Schema version of this release. */
const SCHEMA_VERSION = MIGRATIONS.length;

/** Tables and columns, with types as PostgreSQL prints them. */
const SHAPE = {
  blob: 'area text, bytes bytea, generation bigint, name text; PRIMARY KEY (generation, area, name)',
  store:
    'commit uuid, generation bigint, header bytea, ready boolean, revision bigint, single boolean; PRIMARY KEY (single)',
  version: 'single boolean, usable_from integer, version integer; PRIMARY KEY (single)',
} as const;
type TableName = keyof typeof SHAPE;

interface VersionRow {
  readonly version: number;
  /** Oldest schema version whose software can still work with this schema. */
  readonly usable_from: number;
}

/**
 * Reads the schema version.
 * @returns undefined if our tables do not exist
 * @throws `corrupt` if only this table is missing
 */
async function findVersion(
  client: PostgresClient,
  address: PostgresAddress,
): Promise<VersionRow | undefined> {
  if (!(await hasTable(client, address, 'version'))) {
    if (await hasTable(client, address, 'store')) throw altered(address, 'version', 'is missing');
    return undefined;
  }
  const { rows } = await client.query<VersionRow>(
    `SELECT version, usable_from FROM ${address.schema}.version`,
  );
  return rows[0];
}

const hasTable = (client: PostgresClient, { schema }: PostgresAddress, table: TableName): Promise<boolean> =>
  isFound(client, `to_regclass('${schema}.${table}')`);

/** Whether an SQL expression has a value. */
async function isFound(client: PostgresClient, expression: string): Promise<boolean> {
  const { rows } = await client.query<{ readonly found: boolean }>(
    `SELECT ${expression} IS NOT NULL AS found`,
  );
  return rows[0]?.found === true;
}

/**
 * Checks the schema.
 * @throws `not-found`; `corrupt` if it is newer or was altered; `unavailable` if it is older
 */
export async function checkSchema(client: PostgresClient, address: PostgresAddress): Promise<void> {
  const found = await findVersion(client, address);
  const { place } = address;
  if (found === undefined) throw noStore(place, 'run "coffer init" to create one');
  refuseNewer(found, place);
  if (found.version < SCHEMA_VERSION) {
    throw unavailable(
      placed`the tables in ${place} have version ${found.version}; this Coffer needs version ${SCHEMA_VERSION}`,
      {
        hint: MIGRATE,
      },
    );
  }
  if (found.version === SCHEMA_VERSION) await checkShape(client, address);
}

const MIGRATE = 'run "coffer store migrate" as a role that may create and alter the tables';

function refuseNewer({ version, usable_from }: VersionRow, place: Place): void {
  if (usable_from <= SCHEMA_VERSION) return;
  throw corrupt(
    placed`the tables in ${place} were created by a newer Coffer (version ${version}); this one supports version ${SCHEMA_VERSION}`,
    { hint: 'install a newer Coffer; the store is not damaged' },
  );
}

async function checkShape(client: PostgresClient, address: PostgresAddress): Promise<void> {
  const { rows } = await client.query<{ readonly name: string; readonly shape: string }>(
    `SELECT t.relname AS name, (
        SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attname)
        FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
      ) || COALESCE((
        SELECT '; ' || pg_get_constraintdef(k.oid) FROM pg_constraint k WHERE k.conrelid = t.oid AND k.contype = 'p'
      ), '') AS shape
     FROM pg_class t WHERE t.relnamespace = to_regnamespace('${address.schema}') AND t.relkind IN ('r', 'p')`,
  );
  const found = new Map(rows.map(({ name, shape }) => [name, shape]));
  for (const [name, shape] of Object.entries(SHAPE)) {
    if (found.get(name) === shape) continue;
    throw altered(address, name as TableName, found.has(name) ? 'was modified' : 'is missing');
  }
}

const altered = ({ schema, place }: PostgresAddress, table: TableName, what: string) =>
  corrupt(placed`the table ${schema}.${table} of ${place} ${what}`, {
    hint: `expected: ${SHAPE[table]}; undo the change, or restore the database from a backup`,
  });

/**
 * Creates the schema or migrates it to this version. Must run in a transaction; running servers wait meanwhile.
 * @throws `corrupt` if it is newer; `unavailable` if the role lacks privileges
 */
export async function migrateSchema(
  client: PostgresClient,
  address: PostgresAddress,
): Promise<StoreMigration> {
  const { schema } = address;
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  const before = await findVersion(client, address);
  if (before !== undefined) refuseNewer(before, address.place);
  const from = before?.version ?? 0;
  if (from >= SCHEMA_VERSION) return { from, to: from };
  try {
    // Only if it is missing: a role may own a schema without the privilege to create one.
    if (!(await isFound(client, `to_regnamespace('${schema}')`)))
      await client.query(`CREATE SCHEMA ${schema}`);
    for (const migration of MIGRATIONS.slice(from)) await client.query(migration.replaceAll('%', schema));
  } catch (error) {
    // What a role needs for anything else would not help here.
    if (errorCode(error) !== FORBIDDEN) throw error;
    throw unavailable(placed`cannot use ${address.place}: permission denied`, {
      cause: error,
      hint: MIGRATE,
    });
  }
  return { from, to: SCHEMA_VERSION };
}

/** SQLSTATE of a statement that the role may not run. */
const FORBIDDEN = '42501';

/** Number of the advisory lock; any unused number works. This is "coffer" in ASCII. */
const MIGRATION_LOCK = 0x636f66666572;

/** Blobs that are sent together. */
export type BlobBatch = readonly Blob[];

const BATCH_BLOBS = 500;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Groups blobs into batches that are bounded in number and, except for a single large blob, in bytes. */
export async function* inBatches(blobs: AsyncIterable<Blob>): AsyncGenerator<BlobBatch> {
  let batch: Blob[] = [];
  let bytes = 0;
  for await (const blob of blobs) {
    batch.push(blob);
    bytes += blob.bytes.length;
    if (batch.length < BATCH_BLOBS && bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Inserts blobs; existing rows get the new content. */
export async function insertBlobs(
  client: PostgresClient,
  schema: string,
  generation: number,
  batch: BlobBatch,
): Promise<void> {
  await client.query({
    name: 'insert blobs',
    text: `INSERT INTO ${schema}.blob (generation, area, name, bytes)
      SELECT $1, w.area, w.name, w.bytes FROM unnest($2::text[], $3::text[], $4::bytea[]) AS w (area, name, bytes)
      ON CONFLICT (generation, area, name) DO UPDATE SET bytes = excluded.bytes`,
    values: [
      generation,
      batch.map(({ ref }) => ref.area),
      batch.map(({ ref }) => ref.name),
      batch.map(({ bytes }) => bytea(bytes)),
    ],
  });
}

/** Wraps bytes in the type that the library sends, without copying. */
export const bytea = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Whether a name has the form of our blob names. */
export const isBlobName = (name: string): boolean => /^[0-9a-f]{1,64}$/.test(name);

export const printRef = ({ area, name }: BlobRef): string => `${area}/${name}`;
