import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { tlsOptions } from '../../../src/store/backends/postgres/authentication.ts';
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
    const checked = { ca: 'the authority', checkServerIdentity: expect.any(Function) };
    expect(optionsFor('sslmode=require')).toEqual(checked);
    expect(optionsFor('sslmode=verify-ca')).toEqual(checked);
    expect(optionsFor('sslmode=verify-full')).toEqual({ ca: 'the authority' });
    expect(optionsFor('sslmode=prefer')).toEqual({ rejectUnauthorized: false });
    expect(optionsFor('sslmode=disable')).toBe(false);
  });

  it('check against the authorities of the platform with "verify-full" alone', () => {
    expect(optionsFor('sslmode=verify-full')).toEqual({});
    expect(refusal(() => optionsFor('sslmode=verify-ca'))).toMatchObject({
      kind: 'invalid',
      message: "sslmode=verify-ca can't be right without sslrootcert",
    });
  });

  it('need no TLS on a Unix socket', () => {
    expect(tlsOptions(parseAddress('postgres:///coffer?host=/run/postgresql&sslmode=require'))).toBe(false);
  });
});
