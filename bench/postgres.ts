/** A store in PostgreSQL against the same store in files, and a change of a key against a bare change of a row. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openStore } from '../src/library.ts';
import { systemRandom } from '../src/random.ts';
import { Cluster, whyNoDatabase } from '../test/store/postgres/cluster.ts';
import { newStore, perRequestMs, row, startCoffer, takeTurns } from './http.ts';
import { compareLoops, type Row } from './measure.ts';

/** About as many bytes as a sealed key with a few versions has. */
const ROW_BYTES = 1024;
/** Turned one after the other, so that none gets so many versions that its size tells. */
const KEYS = 100;

export async function run(): Promise<readonly Row[]> {
  const missing = whyNoDatabase();
  if (missing !== undefined) throw new Error(missing);
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  const cluster = await Cluster.create();
  try {
    return [await encrypt(directory, cluster.location('served')), await rotate(cluster.location('turned'))];
  } finally {
    await cluster.remove();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function encrypt(directory: string, location: string): Promise<Row> {
  const ours = await startCoffer(await newStore(directory, location), 1);
  const files = await startCoffer(await newStore(directory), 1);
  try {
    const pairs = await takeTurns(ours, files, { connections: 32, depth: 1 });
    return row('served encrypt on PostgreSQL, 64 bytes', pairs, perRequestMs, 'the same on files', 1 / 0.8);
  } finally {
    await Promise.all([ours.close(), files.close()]);
  }
}

async function rotate(location: string): Promise<Row> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  const { masterKey } = await newStore(directory, location);
  const coffer = await openStore({ directory: location, masterKey });
  const client = new pg.Client({ connectionString: location.replace(/\?.*$/, '') });
  await client.connect();
  try {
    for (let key = 0; key < KEYS; key++) await coffer.transit.keys.create({ name: `key-${key}` });
    await client.query('CREATE TABLE bare (id integer PRIMARY KEY, revision bigint, bytes bytea)');
    await client.query('INSERT INTO bare VALUES (1, 0, $1)', [systemRandom.bytes(ROW_BYTES)]);
    const text = 'UPDATE bare SET revision = revision + 1, bytes = $1 WHERE id = 1 RETURNING revision';
    let turned = 0;
    const measured = await compareLoops(
      () => coffer.transit.keys.rotate({ name: `key-${turned++ % KEYS}` }),
      () => client.query({ name: 'bare', text, values: [systemRandom.bytes(ROW_BYTES)] }),
    );
    return {
      operation: 'rotate a key on PostgreSQL',
      floorName: 'a bare UPDATE … RETURNING',
      limit: 3,
      ...measured,
    };
  } finally {
    coffer.close();
    await client.end();
    rmSync(directory, { recursive: true, force: true });
  }
}
