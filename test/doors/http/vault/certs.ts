import { afterAll, beforeAll, expect } from 'vitest';
import { type Certified, ClientCertificates } from '../../../reference/client-certificates.ts';
import {
  cleanUpAfterAll,
  type Reply,
  selfSigned,
  send,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../../../servers/serving.ts';

export type Client = Pick<Certified, 'cert' | 'key'>;

/** A server that speaks TLS, with a login method for certificates, and ways to ask it. To be called at the top of a file. */
export function certificateWorld() {
  const made = new ClientCertificates();
  afterAll(() => made.close());
  const ca = made.authority('ca');
  const web = made.make('web', {
    by: ca,
    subject: '/OU=ops/OU=web/CN=web1.example.com',
    extensions: WEB,
    serial: SERIAL,
  });
  let server: TestServer;
  let pem = '';
  const afterwards = cleanUpAfterAll();
  beforeAll(async () => {
    const tls = selfSigned(temporaryDirectory(afterwards));
    pem = tls.pem;
    server = await startServer({ tls }, afterwards);
    await enable('cert');
  });

  const ask = (method: string, path: string, options: Parameters<typeof send>[3] = {}): Promise<Reply> =>
    send(server.address, method, `/v1/${path}`, { ca: pem, ...options });

  /** As root. */
  const root = (method: string, path: string, body?: unknown): Promise<Reply> =>
    ask(method, path, { token: server.token, body });

  async function enable(path: string): Promise<void> {
    expect((await root('POST', `sys/auth/${path}`, { type: 'cert' })).status).toBe(204);
  }

  /** On a connection with a certificate, or with none. */
  const asClient = (
    client: Client | undefined,
    path: string,
    body: object = {},
    token?: string,
  ): Promise<Reply> =>
    ask('POST', path, {
      body,
      client: client === undefined ? undefined : { cert: client.cert, key: client.key },
      token,
    });

  let mounts = 0;
  /** A login at a mount of its own with one role. */
  async function tried(client: Client | undefined, settings: object, body: object = {}): Promise<Reply> {
    mounts += 1;
    const mount = `cert-${mounts}`;
    await enable(mount);
    const written = await root('POST', `auth/${mount}/certs/one`, settings);
    expect([written.status, written.json]).toEqual([204, undefined]);
    return asClient(client, `auth/${mount}/login`, body);
  }

  return { made, ca, web, ask, root, enable, asClient, tried, logged: () => server.log };
}

export const SERIAL = '379105046668853390432478644788368937244679266297';

/** Extensions of a client. */
export const WEB = [
  'basicConstraints=CA:FALSE',
  'subjectKeyIdentifier=hash',
  'authorityKeyIdentifier=keyid',
  'extendedKeyUsage=clientAuth',
  'subjectAltName=DNS:web1.example.com,email:ops@example.com,URI:spiffe://example.com/web',
  '1.2.3.4.5=ASN1:UTF8String:blue-team',
];

export const PAST = { from: '20200101000000Z', until: '20200201000000Z' };
export const FUTURE = { from: '20900101000000Z', until: '20900201000000Z' };

/** Status and texts of a refusal. */
export const outcome = ({ status, json }: Reply): unknown[] => [status, json.errors];
