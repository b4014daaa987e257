import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { EXECUTABLE_PARTS } from '../../scripts/bundle.ts';
import { makeExecutable, wrapped } from '../../scripts/single-executable.ts';
import { isLong } from '../long.ts';
import { Certificates } from '../store/postgres/certificates.ts';
import { emptyPlace, MASTER_KEY, type Place, type Result, removePlace } from './harness.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const TOKEN = 'cfr.a-token-that-nobody-may-see';

let place: Place;

/** The file that is shipped, from the bundle that the test run has built; only V8's cache is not worth the time here. */
beforeAll(async () => {
  place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  const assets = EXECUTABLE_PARTS.flatMap((path) => {
    const name = basename(path);
    writeFileSync(place.file(name), wrapped(readFileSync(`${root}dist/${path}`, 'utf8')));
    writeFileSync(place.file(`${name}.cache`), '');
    return [name, `${name}.cache`];
  });
  const files = Object.fromEntries(assets.map((name) => [name, place.file(name)]));
  await makeExecutable(`${root}scripts/executable.cjs`, place.file('coffer'), files);
  for (const line of ['init', 'transit keys create orders']) await ok(line);
});
afterAll(() => removePlace(place));

function run(
  line: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Omit<Result, 'bytes'>> {
  const { promise, resolve } = Promise.withResolvers<Omit<Result, 'bytes'>>();
  const options = { cwd: place.directory, env: place.environment(environment) };
  const child = execFile(place.file('coffer'), line.split(' '), options, (_, stdout, stderr) =>
    resolve({ exitCode: child.exitCode, stdout, stderr }),
  );
  child.stdin?.end();
  return promise;
}

/** A command that does its work, and says nothing beside it. */
async function ok(line: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const result = await run(line, environment);
  expect({ exitCode: result.exitCode, stderr: result.stderr }).toMatchObject({ exitCode: 0 });
  return result.stdout.trimEnd();
}

/** Works as with nothing in the environment, and leaves nothing behind. */
async function expectNoEffect(environment: Readonly<Record<string, string>>): Promise<void> {
  const before = readdirSync(place.directory, { recursive: true });
  const ciphertext = await run('transit encrypt orders hello', environment);
  expect(ciphertext).toEqual({
    exitCode: 0,
    stderr: '',
    stdout: expect.stringMatching(/^service:v1:\S+\n$/),
  });
  expect(readdirSync(place.directory, { recursive: true })).toEqual(before);
}

describe('the single executable', () => {
  const OPTIONS = [
    '--require ./evil.cjs',
    '--import ./evil.mjs',
    '--experimental-loader ./evil.mjs',
    '--inspect=127.0.0.1:0',
    '--env-file=evil.env',
    '--cpu-prof',
    '--trace-env',
  ];
  it.each([...(isLong ? OPTIONS : []), OPTIONS.join(' '), '--no-such-option'])(
    'has no ear for NODE_OPTIONS=%s',
    async (options) => {
      const evil = "process.getBuiltinModule('fs').writeFileSync('key', process.env.COFFER_MASTER_KEY ?? '')";
      for (const name of ['evil.cjs', 'evil.mjs']) writeFileSync(place.file(name), evil);
      writeFileSync(place.file('evil.env'), 'COFFER_MASTER_KEY=no-key\n');
      await expectNoEffect({ NODE_OPTIONS: options });
    },
  );

  it('takes no options of Node on its command line', async () => {
    writeFileSync(place.file('evil.cjs'), "process.stdout.write('evil')");
    for (const option of ['--node-options=--require=./evil.cjs', '--require=./evil.cjs', '--inspect']) {
      expect(await run(`${option} version`)).toMatchObject({ exitCode: 2, stdout: '' });
    }
  });

  it('has its cryptography from nobody whom OPENSSL_CONF names', async () => {
    const configuration = [
      'nodejs_conf = a',
      '[a]',
      'providers = b',
      '[b]',
      'legacy = c',
      '[c]',
      'activate = 1',
    ];
    writeFileSync(place.file('openssl.cnf'), configuration.join('\n'));
    await expectNoEffect({ OPENSSL_CONF: place.file('openssl.cnf') });
  });

  it('takes no compiled code from NODE_COMPILE_CACHE, and puts none there', async () => {
    mkdirSync(place.file('compiled'));
    await ok('transit encrypt orders hello', { NODE_COMPILE_CACHE: place.file('compiled') });
    const found = readdirSync(place.file('compiled'), { recursive: true, withFileTypes: true });
    expect(found.filter((entry) => entry.isFile())).toEqual([]);
  });

  // Makes another executable, which takes longer than all else here.
  it.runIf(isLong && process.platform !== 'win32')(
    'opens no debugger for a signal that comes before its code',
    async () => {
      writeFileSync(place.file('deaf.cjs'), 'process.stdout.write("."); setInterval(() => {}, 1e9);');
      await makeExecutable(place.file('deaf.cjs'), place.file('deaf'));
      const child = spawn(place.file('deaf'), { env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      child.kill('SIGUSR1');
      const [said] = await once(child.stderr, 'data');
      expect(String(said)).toContain('Starting inspector on 192.0.2.1:9229 failed');
    },
  );

  it.skipIf(process.platform !== 'linux')('leaves no signal ignored or blocked for a program', async () => {
    const said = await ok('exec grep -E ^Sig(Ign|Blk): /proc/self/status');
    expect(said).toBe('SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000');
  });

  it('does not say which of its code ran with which key', async () => {
    mkdirSync(place.file('coverage'));
    await ok('transit encrypt orders hello', { NODE_V8_COVERAGE: place.file('coverage') });
    const written = readdirSync(place.file('coverage')).map((name) =>
      readFileSync(place.file(`coverage/${name}`), 'utf8'),
    );
    expect(written.join()).not.toContain('coffer.cjs');
  });

  it('prints no token for NODE_DEBUG', async () => {
    const { address, asked } = await answering(createServer());
    const { stderr } = await run('transit encrypt orders hello', {
      ...remote(address),
      NODE_DEBUG: '*',
      NODE_DEBUG_NATIVE: 'ALL',
    });
    expect(asked()).toEqual([TOKEN]);
    expect(stderr).toMatch(/^coffer: [^\n]+\n$/);
  });

  it('trusts no server for the sake of a variable of Node', async () => {
    const authority = new Certificates(place.directory).authority('stranger');
    const pair = new Certificates(place.directory).issue(authority, 'server', ['DNS:localhost']);
    const { address, asked } = await answering(createSecureServer({ cert: pair.certificate, key: pair.key }));
    const variables: readonly Readonly<Record<string, string>>[] = [
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      { NODE_EXTRA_CA_CERTS: authority.certificateFile },
      { NODE_USE_SYSTEM_CA: '1', SSL_CERT_FILE: authority.certificateFile },
      { NODE_OPTIONS: '--use-openssl-ca', SSL_CERT_FILE: authority.certificateFile },
    ];
    const together = Object.assign({}, ...variables) as Record<string, string>;
    for (const environment of [...(isLong ? variables : []), together]) {
      const { stderr } = await run('transit encrypt orders hello', { ...remote(address), ...environment });
      expect(stderr).toContain(
        "the server's certificate is not trusted (set COFFER_CACERT to a file with the CA certificate of the server)",
      );
    }
    expect(asked()).toEqual([]);
    await run('transit encrypt orders hello', {
      ...remote(address),
      COFFER_CACERT: authority.certificateFile,
    });
    expect(asked()).toEqual([TOKEN]);
  });

  it('sends nothing to the proxy that NODE_USE_ENV_PROXY brings into play', async () => {
    const proxy = await answering(createServer());
    const { address, asked } = await answering(createServer());
    const environment = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.address, http_proxy: proxy.address };
    await run('transit encrypt orders hello', { ...remote(address), ...environment });
    expect({ proxy: proxy.asked(), server: asked() }).toEqual({ proxy: [], server: [TOKEN] });
  });
});

const remote = (address: string) => ({ COFFER_ADDR: address, COFFER_TOKEN: TOKEN });

type Server = ReturnType<typeof createServer> | ReturnType<typeof createSecureServer>;

/** A server that answers everything with nothing, and remembers which tokens it was sent. */
async function answering(server: Server) {
  const tokens: unknown[] = [];
  server.on('request', ({ headers }: IncomingMessage, response: ServerResponse) => {
    tokens.push(headers['x-service-token']);
    response.end();
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const scheme = 'setSecureContext' in server ? 'https' : 'http';
  return {
    address: `${scheme}://localhost:${(server.address() as AddressInfo).port}`,
    asked: () => tokens,
  };
}
