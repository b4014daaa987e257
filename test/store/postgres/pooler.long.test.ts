import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from '../../e2e/harness.ts';
import { freePort } from '../../servers/ports.ts';
import { newDirectory } from './cluster.ts';
import { type Database, newSchema } from './database.ts';
import { asOwner, whyNoDatabase, whyNot } from './installed.ts';
import { sharedDatabase } from './run.ts';

const PROGRAM = '/usr/sbin/pgbouncer';
const missing = whyNoDatabase() ?? whyNot('PgBouncer', PROGRAM, 'pgbouncer');

/** @returns the port of a PgBouncer before a database, which ends with the test. */
async function startPooler({ name, port, socketPath }: Database, mode: string): Promise<number> {
  const directory = newDirectory();
  const own = await freePort();
  const settings = join(directory, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
${name} = host=${join(socketPath, '..')} port=${port} user=admin
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 20
ignore_startup_parameters = extra_float_digits
`,
  );
  const pooler = spawn('setpriv', ['--pdeathsig', 'KILL', PROGRAM, settings], {
    ...asOwner,
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    const gone = once(pooler, 'exit');
    pooler.kill('SIGKILL');
    await gone;
    rmSync(directory, { recursive: true });
  });
  await vi.waitUntil(() => isOpen(own), { timeout: 20_000 });
  return own;
}

function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect').then(
    () => {
      socket.destroy();
      return true;
    },
    () => false,
  );
}

describe.skipIf(missing !== undefined)(`PgBouncer${missing === undefined ? '' : ` (${missing})`}`, () => {
  let database: Database;
  beforeAll(async () => {
    database = await sharedDatabase();
  });

  /** A place whose commands go through it, and one whose don't. */
  async function places(mode: string): Promise<{ schema: string; pooled: Place; direct: Place }> {
    const port = await startPooler(database, mode);
    const place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
    onTestFinished(() => removePlace(place));
    const schema = newSchema();
    const location = database.location(schema);
    const at = (store: string): Place => place.with({ COFFER_STORE: store });
    return { schema, pooled: at(location.replace(`:${database.port}/`, `:${port}/`)), direct: at(location) };
  }

  it.each(['transaction', 'statement'])(
    'is told by each command when its mode is "%s", and "init" makes nothing there',
    async (mode) => {
      const { schema, pooled, direct } = await places(mode);
      const words =
        /^coffer: cannot use postgres:\S+: this address is a pooler in transaction mode, which supports neither session locks nor prepared statements \(use session mode \("pool_mode = session" in PgBouncer\), or connect to the database directly\)$/;
      expect(await pooled.refused('init', 1)).toMatch(words);
      expect(await database.query(`SELECT to_regnamespace('${schema}') AS found`)).toEqual([{ found: null }]);
      await direct.ok('init');
      for (const line of ['status', 'transit keys create orders', 'transit keys list', 'doctor']) {
        expect(await pooled.refused(line, 1)).toMatch(words);
      }
      await direct.ok('transit keys create orders');
    },
  );

  it('is as good as the database itself when its mode is "session"', async () => {
    const { pooled } = await places('session');
    await pooled.ok('init');
    await pooled.ok('transit keys create orders');
    const many = await pooled.shell(
      'for i in 1 2 3 4 5 6 7 8; do coffer transit keys rotate orders & done; wait',
    );
    expect([many.exitCode, many.stderr]).toEqual([0, '']);
    expect(await pooled.json('transit keys read orders')).toMatchObject({ latest_version: 9 });
    await pooled.ok('rekey --yes');
    await pooled.ok('doctor');
    await pooled.ok('status');
  });
});
