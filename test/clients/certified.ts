import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClientCertificates } from '../reference/client-certificates.ts';
import type { Bench } from './client.ts';
import { startPlainServer } from './plain-server.ts';

const MINUTES = 5;

/** A server that speaks TLS, and files in the check's directory: `ca.pem`, and `web.pem` and `web.key` of a client that it signed. */
export interface Certified {
  readonly address: string;
  readonly token: string;
  /** The file with the certificate of the server. */
  readonly certificate: string;
}

/** Gives a check such a server beside the one that its client has. */
export async function withCertificates(
  { directory }: Bench,
  check: (certified: Certified) => Promise<unknown>,
): Promise<void> {
  const made = new ClientCertificates();
  const server = await startPlainServer(AbortSignal.timeout(MINUTES * 60_000), true);
  try {
    const ca = made.authority('ca');
    const web = made.make('web', { by: ca });
    writeFileSync(join(directory, 'ca.pem'), ca.cert);
    writeFileSync(join(directory, 'web.pem'), web.cert);
    writeFileSync(join(directory, 'web.key'), web.key);
    await check({ ...server, certificate: server.certificate ?? '' });
  } finally {
    await server.stop();
    made.close();
  }
}
