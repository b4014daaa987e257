import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Cluster, initialize, newDirectory } from './store/postgres/cluster.ts';
import { type Answer, RUN_VARIABLE, type Shared } from './store/postgres/run.ts';

/**
 * One PostgreSQL server for all files of a run. It is this process that starts it, when the first of them asks, so no two do; and ends
 * it after the last.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run has done it.
  if (process.env[RUN_VARIABLE] !== undefined) return undefined;
  const directory = mkdtempSync(join(tmpdir(), 'coffer-postgres-run-'));
  process.env[RUN_VARIABLE] = join(directory, 'socket');
  const leave: (() => Promise<void> | void)[] = [];

  const makers: { readonly [K in keyof Shared]: () => Promise<Shared[K]> } = {
    async template() {
      const template = newDirectory();
      leave.push(() => rmSync(template, { recursive: true, force: true }));
      // Small files, which are soon copied.
      await initialize(template, '--wal-segsize=1');
      return template;
    },
    async server() {
      const cluster = await Cluster.create();
      leave.push(() => cluster.remove());
      await cluster.query("CREATE ROLE clerk LOGIN PASSWORD 'clerk'");
      return { port: cluster.port, directory: cluster.directory };
    },
  };
  const made = new Map<string, Promise<unknown>>();

  async function answerTo(what: string): Promise<Answer> {
    try {
      const value = made.get(what) ?? makers[what as keyof Shared]();
      made.set(what, value);
      return { value: await value };
    } catch (error) {
      return { error: String(error) };
    }
  }

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    void text(socket)
      .then(answerTo)
      .then((answer) => socket.end(JSON.stringify(answer)));
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(process.env[RUN_VARIABLE], resolve);
  await listening;

  return async () => {
    server.close();
    // What is only just being made is taken down as well.
    await Promise.allSettled(made.values());
    for (const end of leave.toReversed()) await end();
    rmSync(directory, { recursive: true, force: true });
  };
}
