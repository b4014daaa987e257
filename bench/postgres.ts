/** A store in PostgreSQL against the same store in files, and a change of a key against a bare update of a row. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { systemRandom } from '../src/ground/random.ts';
import { DEFAULT_MOUNT } from '../src/mounts/paths.ts';
import { openCore } from '../src/operations/core.ts';
import { parseMasterKey } from '../src/store/master-key.ts';
import { openStore } from '../src/store/open.ts';
import { createKey, type NewKey } from '../src/transit/lifecycle.ts';
import { rotateKey } from '../src/transit/rotation.ts';
import { Cluster } from '../test/store/postgres/cluster.ts';
import { whyNoDatabase } from '../test/store/postgres/installed.ts';
import { newStore, perRequestMs, row, startCoffer, takeTurns } from './http.ts';
import { compareLoops, type Row } from './measure.ts';

/** Size of a row, in bytes: about that of a sealed key with three versions, the average here. */
const ROW_BYTES = 1024;
/** Number of keys and rows that are changed in turn, so that no key has so many versions that its size matters. */
const KEYS = 1500;
const SETTINGS: NewKey = {
  type: 'aes256-gcm96',
  derived: false,
  convergentEncryption: false,
  exportable: false,
  allowPlaintextBackup: false,
  autoRotatePeriodSeconds: 0,
  keyBytes: 0,
};
/** Number of warm-up calls, which a server soon reaches: uncompiled code would give other results. */
const WARM_UP = 2000;

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
  const reveal = () => parseMasterKey(masterKey);
  const store = await openStore({
    location: location,
    credentials: [{ kind: 'raw', source: 'bench', reveal }],
  });
  // Already loaded as in a server; the library looks up the mount each time.
  const engine = await openCore(store).engine(DEFAULT_MOUNT);
  const client = new pg.Client({ connectionString: location.replace(/\?.*$/, '') });
  await client.connect();
  try {
    for (let key = 0; key < KEYS; key++) await createKey(engine, `key-${key}`, SETTINGS);
    await client.query('CREATE TABLE bare (id integer PRIMARY KEY, revision bigint, bytes bytea)');
    await client.query('INSERT INTO bare SELECT id, 0, $1 FROM generate_series(0, $2 - 1) AS id', [
      systemRandom.bytes(ROW_BYTES),
      KEYS,
    ]);
    const text = 'UPDATE bare SET revision = revision + 1, bytes = $1 WHERE id = $2 RETURNING revision';
    let turned = 0;
    while (turned < WARM_UP) await rotateKey(engine, `key-${turned++ % KEYS}`, false);
    const measured = await compareLoops(
      () => rotateKey(engine, `key-${turned++ % KEYS}`, false),
      () => client.query({ name: 'bare', text, values: [systemRandom.bytes(ROW_BYTES), turned++ % KEYS] }),
    );
    return {
      operation: 'rotate a key on PostgreSQL',
      floorName: 'a bare UPDATE … RETURNING',
      limit: 3,
      ...measured,
    };
  } finally {
    store.close();
    await client.end();
    rmSync(directory, { recursive: true, force: true });
  }
}
