import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkServerIdentity } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { tlsOptions } from '../../../src/store/backends/postgres/authentication.ts';
import { binary, MASTER_KEY } from '../../e2e/harness.ts';
import { refusal } from '../../refusal.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'coffer-tls-'));
  vi.stubEnv('HOME', home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

const optionsFor = (query: string) =>
  tlsOptions(parseAddress(`postgres://coffer@db.example/coffer?${query}`));

/** What PostgreSQL's own client takes from this place in the home directory. */
function giveAuthority(): void {
  mkdirSync(join(home, '.postgresql'));
  writeFileSync(join(home, '.postgresql', 'root.crt'), 'the authority');
}

describe('the modes of TLS to a database', () => {
  it('check the certificate from "require" on as soon as there is an authority to check it against', () => {
    expect(optionsFor('sslmode=require')).toEqual({ rejectUnauthorized: false });
    giveAuthority();
    const verified = { rejectUnauthorized: true, ca: 'the authority' };
    const checked = {
      ...verified,
      checkServerIdentity: expect.not.toSatisfy((check) => check === checkServerIdentity),
    };
    expect(optionsFor('sslmode=require')).toEqual(checked);
    expect(optionsFor('sslmode=verify-ca')).toEqual(checked);
    expect(optionsFor('sslmode=verify-full')).toEqual({ ...verified, checkServerIdentity });
    expect(optionsFor('sslmode=prefer')).toEqual({ rejectUnauthorized: false });
    expect(optionsFor('sslmode=disable')).toBe(false);
  });

  it('check against the authorities of the platform with "verify-full" alone', () => {
    expect(optionsFor('sslmode=verify-full')).toEqual({ rejectUnauthorized: true, checkServerIdentity });
    expect(refusal(() => optionsFor('sslmode=verify-ca'))).toMatchObject({
      kind: 'invalid',
      message: 'sslmode=verify-ca requires sslrootcert',
    });
  });

  it.each([
    ['postgres://db.example/coffer', 'verify-full'],
    ['postgres://10.0.0.1/coffer', 'verify-full'],
    ['postgres://127.0.0.1,db.example/coffer', 'verify-full'],
    ['postgres://127.0.0.1.db.example/coffer', 'verify-full'],
    ['postgres://db.example/coffer?sslmode=prefer', 'prefer'],
    ['postgres://db.example/coffer?sslmode=disable', 'disable'],
    ['postgres:///coffer', 'prefer'],
    ['postgres://db.example/coffer?sslrootcert=ca.pem', 'verify-full'],
    ['postgres://localhost,db.example/coffer?sslrootcert=ca.pem', 'verify-full'],
    ['postgres://localhost/coffer?sslrootcert=ca.pem&sslmode=prefer', 'prefer'],
    ['postgres://127.0.0.2,localhost,[::1]/coffer', 'prefer'],
    ['postgres:///coffer?host=/run/postgresql', 'prefer'],
  ])(
    'verify wherever a password would leave the machine, unless told otherwise: %s is %s',
    (location, mode) => {
      expect(parseAddress(location).ssl.mode).toBe(mode);
    },
  );

  it('verify an authority on the same machine, too, if the location itself names one', () => {
    const modeOf = (query: string, defaults = {}) =>
      parseAddress(`postgres://localhost/coffer${query}`, defaults).ssl.mode;
    expect(modeOf('?sslrootcert=ca.pem')).toBe('verify-ca');
    expect(modeOf('?sslrootcert=system')).toBe('verify-full');
    expect(modeOf('?sslrootcert=ca.pem', { sslmode: 'prefer' })).toBe('prefer');
    expect(modeOf('', { sslrootcert: 'ca.pem' })).toBe('prefer');
  });

  it('verify the host of PGHOST, which a location without one does not follow by itself', () => {
    vi.stubEnv('PGHOST', 'db.example');
    expect(parseAddress('postgres:///coffer')).toMatchObject({
      hosts: [{ host: 'localhost' }],
      ssl: { mode: 'prefer' },
    });
    const beside = { host: 'db.example' };
    expect(parseAddress('postgres:///coffer', beside).ssl.mode).toBe('verify-full');
    expect(parseAddress('postgres:///coffer', { ...beside, sslmode: 'prefer' }).ssl.mode).toBe('prefer');
  });

  it('need no TLS on a Unix socket, unless another host may be connected to', () => {
    expect(tlsOptions(parseAddress('postgres:///coffer?host=/run/postgresql&sslmode=require'))).toBe(false);
    const besideOthers = 'postgres:///coffer?host=/run/postgresql,db.example&sslmode=require';
    expect(tlsOptions(parseAddress(besideOthers))).toEqual({ rejectUnauthorized: false });
  });
});

describe('a listener in the place of a database on another machine', () => {
  it('gets no password by saying that it knows no TLS', async () => {
    const listener = await passwordCollector();
    const elsewhere = `postgres://coffer:opensesame@0.0.0.0:${listener.port}/coffer`;
    expect(await commandOn(elsewhere)).toMatch(
      /^coffer: cannot use \S+: the database offers no TLS \(set "ssl = on" on the server, or use sslmode=disable on [^\n]+\)\n$/,
    );
    expect(listener.heard()).not.toContain('opensesame');
    await commandOn(`${elsewhere}?sslmode=prefer`);
    expect(listener.heard()).toContain('opensesame');
  });
});

/** Refuses TLS, and asks whoever goes on for the password in clear. */
async function passwordCollector() {
  const REFUSAL = 'N';
  const ASK_IN_CLEAR = Buffer.from('R\0\0\0\x08\0\0\0\x03', 'latin1');
  const TLS_REQUEST_BYTES = 8;
  let heard = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1');
      if (bytes.length === TLS_REQUEST_BYTES) socket.write(REFUSAL);
      else if (heard.includes('opensesame')) socket.destroy();
      else socket.write(ASK_IN_CLEAR);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, heard: () => heard };
}

/** What a command says on standard error that is to work on a store there, and can't. */
function commandOn(store: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const environment = { PATH: process.env['PATH'], HOME: home, COFFER_MASTER_KEY: MASTER_KEY };
  execFile(
    process.execPath,
    [binary, 'transit', 'keys', 'list', '--store', store],
    { env: environment },
    (error, _, stderr) => (error === null ? reject(new Error('it works')) : resolve(stderr)),
  );
  return promise;
}
