import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { selfSigned } from '../servers/self-signed.ts';
import { startServerProcess } from '../servers/server-process.ts';
import { mustSucceed } from './commands.ts';

/** The command as it is shipped. */
export const binary = fileURLToPath(new URL('../../bin/coffer', import.meta.url));

export interface PlainServer {
  readonly address: string;
  /** A token that may do everything. */
  readonly token: string;
  /** The file with its certificate, when it speaks TLS. */
  readonly certificate: string | undefined;
  stop(): Promise<void>;
}

/**
 * `coffer serve` as anybody starts it, without an option but for a port that is free, on a store as `coffer init` makes it.
 * @param secure it speaks TLS, with a certificate for localhost
 */
export async function startPlainServer(signal: AbortSignal, secure = false): Promise<PlainServer> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-clients-'));
  const environment = {
    PATH: process.env['PATH'],
    HOME: directory,
    COFFER_STORE: join(directory, 'store'),
    COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const run = mustSucceed({ directory, environment, signal });
  await run(process.execPath, [binary, 'init']);
  const token = await run(process.execPath, [binary, 'token', 'create', '--policy', 'root']);
  const tls = secure ? selfSigned(directory) : undefined;
  const options = tls === undefined ? [] : ['--tls-cert', tls.certificateFile, '--tls-key', tls.keyFile];
  const { address, stop } = await startServerProcess(
    [binary, 'serve', '--listen', '127.0.0.1:0', ...options],
    { directory, environment },
  );
  return {
    // Certificates are for names.
    address: secure ? address.replace('127.0.0.1', 'localhost') : address,
    token: token.trim(),
    certificate: tls?.certificateFile,
    async stop() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
