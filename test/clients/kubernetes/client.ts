import { equal, match, notEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { startServerProcess } from '../../servers/server-process.ts';
import type { Bench, Client } from '../client.ts';
import { goModule } from '../go.ts';

const version = '0.36.3';

/** A store with the key of the cluster, and where the plugin listens. */
interface Place {
  readonly socket: string;
  readonly environment: Readonly<Record<string, string>>;
  coffer(...words: readonly string[]): Promise<string>;
}

async function place(bench: Bench): Promise<Place> {
  const environment = {
    HOME: bench.directory,
    COFFER_STORE: join(bench.directory, 'store'),
    COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const [node = '', ...command] = bench.commandLine;
  const coffer = (...words: readonly string[]): Promise<string> =>
    bench.run(node, [...command, ...words], { environment });
  await coffer('init');
  await coffer('transit', 'keys', 'create', 'cluster');
  return { socket: join(bench.directory, 'kms.sock'), environment, coffer };
}

const start = (
  { commandLine, directory }: Bench,
  environment: Place['environment'],
  words: readonly string[],
) => {
  const [, ...command] = commandLine;
  return startServerProcess([...command, ...words], {
    directory,
    environment: { PATH: process.env['PATH'], ...environment },
  });
};

/** The plugin, while something is done with it. */
async function withPlugin(
  bench: Bench,
  { socket, environment }: Place,
  work: () => Promise<void>,
): Promise<void> {
  const { stop } = await start(bench, environment, ['kms', '--socket', socket, '--key', 'cluster']);
  try {
    await work();
  } finally {
    await stop();
  }
}

export const client: Client = {
  title: "Kubernetes' API server: its client of KMS v2",
  version,
  minutes: 5,
  install: (machine) => goModule(machine, 'kubernetes'),
  checks: {
    async 'encrypts and decrypts, also after the plugin was started again'(bench) {
      const here = await place(bench);
      const ask = (...words: readonly string[]) => bench.run(bench.installed, [here.socket, ...words]);
      await withPlugin(bench, here, async () => {
        await ask('write', 'stored', 'a-secret');
        equal(await ask('read', 'stored'), 'a-secret false\n');
      });
      match(await bench.refused(bench.installed, [here.socket, 'status']), /unhealthy/);
      await withPlugin(bench, here, async () => {
        match(await ask('read', 'stored'), /^a-secret /);
      });
    },
    async 'takes the new version after a rotation, and reads what the old one wrote'(bench) {
      const here = await place(bench);
      const ask = (...words: readonly string[]) => bench.run(bench.installed, [here.socket, ...words]);
      await withPlugin(bench, here, async () => {
        const before = await ask('status');
        equal(await ask('status'), before);
        await ask('write', 'old', 'a-secret');
        await here.coffer('transit', 'keys', 'rotate', 'cluster');
        notEqual(await ask('status'), before);
        match(await ask('read', 'old'), /^a-secret true/);
        await ask('write', 'new', 'a-secret');
        match(await ask('read', 'new'), /^a-secret /);
        await here.coffer('transit', 'keys', 'config', 'cluster', '--min-decryption-version', '2');
        match(await bench.refused(bench.installed, [here.socket, 'read', 'old']), /failed to decrypt/);
        match(await ask('read', 'new'), /^a-secret /);
      });
    },
    async 'finds the plugin unhealthy while the store of a server is sealed, and healthy again'(bench) {
      const here = await place(bench);
      const policy = [
        'keys/cluster" { capabilities = ["read"] }',
        'encrypt/cluster" { capabilities = ["update"] }',
        'decrypt/cluster" { capabilities = ["update"] }',
      ];
      const [node = '', ...command] = bench.commandLine;
      await bench.run(node, [...command, 'policy', 'write', 'kms'], {
        environment: here.environment,
        input: policy.map((line) => `path "transit/${line}\n`).join(''),
      });
      const token = (await here.coffer('token', 'create', '--policy', 'kms')).trim();
      const root = (await here.coffer('token', 'create', '--policy', 'root')).trim();
      const server = await start(bench, here.environment, ['serve', '--listen', '127.0.0.1:0', '-q']);
      const { COFFER_MASTER_KEY: key = '' } = here.environment;
      const remote = { HOME: bench.directory, COFFER_ADDR: server.address, COFFER_TOKEN: token };
      const over = { ...here, environment: remote };
      try {
        await withPlugin(bench, over, async () => {
          const ask = (...words: readonly string[]) => bench.run(bench.installed, [here.socket, ...words]);
          await ask('write', 'stored', 'a-secret');
          await bench.run(node, [...command, 'seal', '--yes'], {
            environment: { ...remote, COFFER_TOKEN: root },
          });
          match(await bench.refused(bench.installed, [here.socket, 'status']), /unhealthy: v2 .*sealed/);
          match(await bench.refused(bench.installed, [here.socket, 'read', 'stored']), /unhealthy/);
          await bench.run(node, [...command, 'unseal'], { environment: remote, input: key });
          match(await ask('read', 'stored'), /^a-secret /);
        });
      } finally {
        await server.stop();
      }
    },
  },
};
