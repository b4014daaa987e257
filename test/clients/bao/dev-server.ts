import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { selfSigned } from '../../servers/self-signed.ts';

/** What may do everything on an OpenBao of the tests' own. */
export const ROOT_TOKEN = 'root-of-the-test';
/** It says that it is ready by answering. */
const READY_WITHIN_MS = 30_000;

/** Runs work beside an OpenBao of its own that keeps nothing. @param bao the command; its home is `directory`. */
export const withOpenBao = <T>(
  bao: string,
  directory: string,
  work: (address: string) => Promise<T>,
): Promise<T> => running(bao, directory, [], work);

/**
 * The same, with a second listener that speaks TLS and takes certificates of clients.
 * @param work is given its address, and the authority of its certificate.
 */
export async function withSecureOpenBao<T>(
  bao: string,
  directory: string,
  work: (address: string, authority: string) => Promise<T>,
): Promise<T> {
  const { certificateFile, keyFile, pem } = selfSigned(directory);
  const listen = `127.0.0.1:${await freePort()}`;
  const config = join(directory, 'bao.hcl');
  writeFileSync(
    config,
    `listener "tcp" {
      address = "${listen}"
      tls_cert_file = "${certificateFile}"
      tls_key_file = "${keyFile}"
    }`,
  );
  return running(bao, directory, [`-config=${config}`], () => work(`https://${listen}`, pem));
}

async function running<T>(
  bao: string,
  directory: string,
  more: readonly string[],
  work: (address: string) => Promise<T>,
): Promise<T> {
  const listen = `127.0.0.1:${await freePort()}`;
  const address = `http://${listen}`;
  const server = spawn(
    bao,
    [
      ...['server', '-dev', '-dev-no-store-token'],
      ...[`-dev-root-token-id=${ROOT_TOKEN}`, `-dev-listen-address=${listen}`],
      ...more,
    ],
    { stdio: 'ignore', env: { PATH: process.env['PATH'], HOME: directory } },
  );
  const kill = (): void => void server.kill('SIGKILL');
  process.once('exit', kill);
  try {
    await listening(address);
    return await work(address);
  } finally {
    kill();
    process.off('exit', kill);
  }
}

/** A port that was free a moment ago, with the one after it, which OpenBao takes for its cluster. */
async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  listener.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function listening(address: string): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  while (performance.now() < until) {
    const health = await fetch(`${address}/v1/sys/health`).catch(() => undefined);
    if (health?.status === 200) return;
    await pause(100);
  }
  throw new Error('OpenBao does not listen');
}
