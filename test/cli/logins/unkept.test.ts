import { chmodSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { standInServer } from '../../servers/stand-in.ts';
import { DirectoryHere } from '../directory-here.ts';
import { promptsDouble } from '../streams.double.ts';

const TOKEN = 'cfr.fresh';
const server = standInServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  const isRevoking = request.url?.endsWith('/revoke-self') === true;
  const status = isRevoking ? revoking : 200;
  response.writeHead(status, { 'content-type': 'application/json' });
  const auth = { client_token: TOKEN, lease_duration: 60, policies: ['default'] };
  const good = request.url?.includes('/login/') ? { data: null, auth } : { data: { policies: ['default'] } };
  response.end(status === 204 ? undefined : JSON.stringify(status === 200 ? good : { errors: ['broken'] }));
});
const asked: string[] = [];
let revoking = 204;
beforeEach(() => {
  asked.length = 0;
  revoking = 204;
});

const LOGIN = 'PUT /v1/auth/userpass/login/ada';
const REVOKE = 'PUT /v1/auth/token/revoke-self';
const LINE = 'login userpass username=ada password=@password';
const paths = () => asked.map((line) => line.replace(/^\w+ /, ''));

/** A user whose tokens cannot be kept, unless they can. */
function user(canKeep = false): DirectoryHere {
  const here = DirectoryHere.make({
    COFFER_ADDR: server.address,
    COFFER_STORE: undefined,
    COFFER_MASTER_KEY: undefined,
  });
  here.write('password', 'right\n');
  chmodSync(here.file('password'), 0o600);
  here.write('home/.local/state/coffer', 'a file');
  if (canKeep) here.write('home/state/x', '');
  return here;
}

describe('the token of a login', () => {
  it('is revoked where it cannot be kept, as nobody has it', async () => {
    const { exitCode, err, out } = await user().run(LINE);
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
    expect(err).not.toContain(TOKEN);
    expect(err).not.toContain('stays valid');
    expect(paths()).toEqual([LOGIN, REVOKE].map((line) => line.replace(/^\w+ /, '')));
  });

  it('stays valid where it can be neither kept nor revoked, which is said', async () => {
    revoking = 500;
    const { exitCode, err } = await user().run(LINE);
    expect(exitCode).toBe(1);
    expect(err).toContain(
      'coffer: warning: the token of this login could neither be stored nor revoked: it stays valid until it expires\n',
    );
  });

  it('is not revoked where the user has brought it, whatever becomes of it', async () => {
    const { exitCode } = await user().run('login', { environment: { COFFER_TOKEN: TOKEN } });
    expect(exitCode).toBe(1);
    expect(paths()).toEqual(['/v1/auth/token/lookup-self']);
  });

  it('is kept and not revoked where that works, and printed instead of that with --no-store', async () => {
    const here = user(true);
    const environment = { XDG_STATE_HOME: here.file('home/state') };
    await here.ok(LINE, { environment });
    expect(asked).toHaveLength(1);
    expect(await here.ok(`${LINE} --no-store`)).toContain(TOKEN);
    expect(paths()).not.toContain('/v1/auth/token/revoke-self');
    await here.ok('logout', { environment });
    expect(paths()).toContain('/v1/auth/token/revoke-self');
  });

  it('stays where it is kept if the server cannot revoke it, unless it is only to be deleted', async () => {
    const here = user(true);
    const environment = { XDG_STATE_HOME: here.file('home/state') };
    await here.ok(LINE, { environment });
    revoking = 500;
    expect(await here.refused('logout', 1, { environment })).toContain('the token is still valid and stored');
    asked.length = 0;
    await here.ok('logout --no-revoke', { environment });
    expect(asked).toEqual([]);
    const { err } = await here.run('logout', { environment, terminals: ['err'], columns: 200 });
    expect(err).toContain('Not logged in to ');
  });
});

describe('a login that prompts', () => {
  it('says that it reads no standard input that is no terminal, with the command that does', async () => {
    for (const [line, told] of [
      ['login --no-store', 'Standard input is not read; to use it, run "coffer login token token=-".'],
      [
        'login userpass username=ada --no-store',
        'Standard input is not read; to use it, run "coffer login userpass password=- username=ada".',
      ],
    ] as const) {
      const prompts = promptsDouble(['hvs.typed-by-somebody-at-a-terminal']);
      const { exitCode, err } = await user().run(line, {
        prompts,
        terminals: ['err'],
        columns: 200,
        input: 'piped',
      });
      expect({ exitCode, err }).toEqual({ exitCode: 0, err: expect.stringContaining(told) });
      // It is a command that works.
      const again = /"coffer ([^"]+)"/.exec(told)?.[1] ?? '';
      expect(await user().run(`${again} --no-store`, { input: 'hvs.piped-in-by-a-command' })).toMatchObject({
        exitCode: 0,
        err: '',
      });
      const typed = promptsDouble(['hvs.typed-by-somebody-at-a-terminal']);
      const atTerminal = await user().run(line, { prompts: typed, terminals: ['in', 'err'] });
      expect(atTerminal.err).not.toContain('Standard input');
    }
  });
});
