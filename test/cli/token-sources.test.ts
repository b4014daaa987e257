import { chmodSync, chownSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TokenFile } from '../../src/cli/logins/kept-token.ts';
import { standInServer } from '../servers/stand-in.ts';
import { DirectoryHere } from './directory-here.ts';

/** Status of what a token looks up about itself, and the message to everything else. */
let lookup = 200;
let message = 'permission denied';
const server = standInServer((request, response) => {
  const status = request.url?.endsWith('/lookup-self') ? lookup : 403;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(status === 200 ? { data: {} } : { errors: [message] }));
});
afterEach(() => {
  lookup = 200;
  message = 'permission denied';
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const LINE = 'read transit/keys/app';
const make = (): DirectoryHere =>
  DirectoryHere.make({ COFFER_ADDR: server.address, COFFER_STORE: undefined, COFFER_MASTER_KEY: undefined });
const keep = (here: DirectoryHere, expiresMs?: number) =>
  TokenFile.required({ HOME: here.file('home') }, server.address).write({
    token: 'cfr.kept',
    isOwn: true,
    again: 'coffer login userpass username=ada',
    expiresMs,
  });
const refusedFor = (here: DirectoryHere, environment: Readonly<Record<string, string>> = {}) =>
  here.refused(LINE, 4, { environment });

describe('a request that a server refuses', () => {
  it('says of a kept token that it has expired, from the very millisecond on, or is no longer valid', async () => {
    const now = Date.parse('2026-11-28T12:00:00Z');
    vi.useFakeTimers({ now, toFake: ['Date'] });
    const here = make();
    const again = 'run "coffer login userpass username=ada"';
    await keep(here, now);
    // It was renewed since then.
    expect(await refusedFor(here)).not.toContain('stored token');
    lookup = 403;
    expect(await refusedFor(here)).toContain(
      `the stored token expired at 2026-11-28T12:00:00.000Z: ${again}`,
    );
    await keep(here, now + 1);
    expect(await refusedFor(here)).toContain(`the stored token is no longer valid: ${again}`);
    await keep(here);
    expect(await refusedFor(here)).toContain(`the stored token is no longer valid: ${again}`);
    // A server that fails to tell has not said that.
    lookup = 500;
    expect(await refusedFor(here)).not.toContain('stored token');
  });

  it('says where a token is from that the user may not think of, and where one comes from if there is none', async () => {
    const here = make();
    expect(await refusedFor(here)).toContain(
      'no token given: use "coffer login", COFFER_TOKEN or --token-file',
    );
    expect(await refusedFor(here, { VAULT_TOKEN: 'cfr.x' })).toContain('the token is from VAULT_TOKEN');
    expect(await refusedFor(here, { COFFER_TOKEN: 'cfr.x' })).not.toContain('the token is from');
    here.write('home/.vault-token', 'cfr.x\n');
    chmodSync(here.file('home/.vault-token'), 0o600);
    expect(await refusedFor(here)).toContain('the token is from ~/.vault-token');
    await keep(here);
    expect(await refusedFor(here)).not.toContain('~/.vault-token');
    message = 'bad token';
    expect(await refusedFor(here, { VAULT_TOKEN: 'cfr.x' })).not.toContain('the token is from');
  });

  it('is none where a token file is open to others, or a token cannot be asked for', async () => {
    const here = make();
    here.write('token', 'cfr.x\n');
    chmodSync(here.file('token'), 0o644);
    expect(await here.refused(`${LINE} --token-file token`, 1)).toContain('token can be read by others');
    expect(await here.refused(`${LINE} --token`, 2)).toContain('cannot prompt for the token');
  });
});

describe('the certificates of a client', () => {
  it.each([
    ['COFFER_CLIENT_CERT', 'COFFER_CLIENT_CERT: client certificate and key must be set together'],
    ['COFFER_CLIENT_KEY', 'COFFER_CLIENT_KEY: client certificate and key must be set together'],
    ['VAULT_CLIENT_KEY', 'VAULT_CLIENT_KEY: client certificate and key must be set together'],
    ['COFFER_CACERT', 'no certificate in pem (use a certificate in PEM, which has the line'],
    ['VAULT_CACERT', 'no certificate in der (use a certificate in PEM', 'der'],
  ])('are refused where %s alone is set, or has none', async (name, said, file = 'pem') => {
    const here = make();
    here.write('der', Uint8Array.of(0x30, 0x82, 0x01, 0x80, 0xff));
    here.write('pem', '-----BEGIN PRIVATE KEY-----\n');
    expect(await here.refused(LINE, 2, { environment: { [name]: file, COFFER_TOKEN: 't' } })).toContain(said);
  });
});

it.runIf(process.getuid?.() === 0)(
  'a socket of another user is warned of, and none of root or of us',
  async () => {
    const here = make();
    here.write('socket', '');
    const said = async (owner: number, self: number): Promise<string> => {
      chownSync(here.file('socket'), owner, owner);
      vi.spyOn(process, 'geteuid').mockReturnValue(self);
      const { err } = await here.run(`${LINE} --address unix:${here.file('socket')}`, {
        environment: { COFFER_TOKEN: 't' },
      });
      return err;
    };
    const warning = 'belongs to another user (uid 4321): that user can read the token and data';
    expect(await said(4321, 1234)).toContain(warning);
    expect(await said(4321, 0)).toContain(warning);
    expect(await said(4321, 4321)).not.toContain('belongs to');
    expect(await said(0, 1234)).not.toContain('belongs to');
  },
);
