import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientCertificates } from '../reference/client-certificates.ts';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';
import { selfSigned } from '../servers/serving.ts';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

const bare = emptyPlace();
const owner: Place = bare.with({ COFFER_MASTER_KEY: MASTER_KEY });
const made = new ClientCertificates();
let running: ServerProcess;
/** Somebody who has a certificate, and nothing else. */
let machine: Place;

beforeAll(async () => {
  const { certificateFile, keyFile } = selfSigned(bare.directory);
  const ca = made.authority('ca');
  const web = made.make('web', { by: ca, subject: '/CN=web1.example.com' });
  writeFileSync(bare.file('ca.pem'), ca.cert);
  writeFileSync(bare.file('web.pem'), web.cert);
  writeFileSync(bare.file('web.key'), web.key, { mode: 0o600 });
  await owner.ok('init');
  await owner.ok('transit keys create orders');
  writeFileSync(bare.file('web.hcl'), 'path "transit/encrypt/orders" { capabilities = ["update"] }');
  await owner.ok('policy write web web.hcl');
  await owner.ok('auth enable cert');
  await owner.ok(
    'auth cert write web --certificate @ca.pem --allowed-common-names *.example.com --token-policies web',
  );
  running = await startServerProcess(
    [binary, 'serve', '--listen', '127.0.0.1:0', '--tls-cert', certificateFile, '--tls-key', keyFile, '-q'],
    { directory: owner.directory, environment: owner.environment() },
  );
  machine = bare.with({
    COFFER_STORE: undefined,
    COFFER_ADDR: running.address,
    COFFER_CACERT: certificateFile,
  });
});

afterAll(async () => {
  await running.stop();
  made.close();
  removePlace(bare);
});

describe('coffer login cert', () => {
  it('logs in with a certificate that options or variables name', async () => {
    expect(await machine.refused('login cert', 2)).toContain('no client certificate found');
    await machine.ok('login cert --client-cert web.pem --client-key web.key');
    expect(await machine.ok('transit encrypt orders x')).toMatch(/^service:v1:/);
    await machine.ok('logout');
    const known = machine.with({ VAULT_CLIENT_CERT: 'web.pem', VAULT_CLIENT_KEY: 'web.key' });
    await known.ok('login cert name=web');
    expect(await known.json('token lookup')).toMatchObject({
      meta: { cert_name: 'web', common_name: 'web1.example.com' },
    });
    await known.ok('token renew');
    expect(await machine.refused('token renew', 2)).toContain('no client certificate found');
    await known.ok('logout');
  });

  it('wants a certificate with its key, and keys that nobody else can read', async () => {
    expect(await machine.refused('login cert --client-cert web.pem', 2)).toContain(
      'client certificate and key must be set together',
    );
    expect(await machine.with({ COFFER_CLIENT_KEY: 'web.key' }).refused('health', 2)).toContain(
      'set COFFER_CLIENT_CERT and COFFER_CLIENT_KEY',
    );
    writeFileSync(bare.file('open.key'), 'x', { mode: 0o644 });
    expect(await machine.refused('login cert --client-cert web.pem --client-key open.key', 1)).toContain(
      'can be read by others',
    );
  });

  it('has roles and lists of revoked certificates, with commands', async () => {
    expect(await owner.ok('auth cert list')).toBe('web');
    expect(await owner.json('auth cert read web')).toMatchObject({ allowed_common_names: ['*.example.com'] });
    expect(await owner.ok('auth cert list-revocations')).toBe('');
  });
});
