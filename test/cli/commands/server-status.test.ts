import { chmodSync } from 'node:fs';
import { expect, it } from 'vitest';
import { standInServer } from '../../servers/stand-in.ts';
import { DirectoryHere } from '../directory-here.ts';

interface Answers {
  readonly sealed: boolean;
  /** What the token is told of itself; undefined if it may not know. */
  readonly self?: object | undefined;
}

let answers: Answers = { sealed: false };
const asked: string[] = [];
const server = standInServer(({ url = '' }, response) => {
  asked.push(url.replace(/\?.*/, ''));
  const isHealth = url.startsWith('/v1/sys/health') || url.startsWith('/v1/sys/seal-status');
  const isRefused = !isHealth && answers.self === undefined;
  response.writeHead(isRefused ? 403 : 200, { 'content-type': 'application/json' });
  const health = { initialized: true, sealed: answers.sealed, version: '1.0.0', t: 1, progress: 0 };
  const body = isRefused ? { errors: ['permission denied'] } : isHealth ? health : { data: answers.self };
  response.end(JSON.stringify(body));
});

const LOGGED_IN = ['State: unsealed', 'Version: 1.0.0'];
const UNKNOWN = 'Logged in as: unknown: the token is invalid, or its policies do not allow looking it up';

it.each<[string, Answers, boolean, readonly string[]]>([
  ['sealed', { sealed: true }, true, ['State: sealed', 'Version: 1.0.0']],
  ['without a token', { sealed: false }, false, [...LOGGED_IN, 'Logged in: no: run "coffer login"']],
  ['with a token that it does not know', { sealed: false }, true, [...LOGGED_IN, UNKNOWN]],
  [
    'with a token that has a name and no end',
    { sealed: false, self: { display_name: 'ada', policies: ['a', 'b'], expire_time: null } },
    true,
    [...LOGGED_IN, 'Logged in as: ada', 'Policies: a, b', 'Token expires: never'],
  ],
  [
    'with a token without a name and policies',
    { sealed: false, self: { display_name: '', expire_time: null } },
    true,
    [...LOGGED_IN, 'Logged in as: token', 'Token expires: never'],
  ],
])('the status of a server %s says what is known of it', async (_, told, hasToken, rows) => {
  answers = told;
  asked.length = 0;
  const here = DirectoryHere.make({
    COFFER_ADDR: server.address,
    COFFER_STORE: undefined,
    COFFER_MASTER_KEY: undefined,
  });
  const { out } = await here.run('status', {
    environment: hasToken ? { COFFER_TOKEN: 'cfr.x' } : {},
    terminals: ['out', 'err'],
    columns: 120,
  });
  const shown = out.split('\n').flatMap(
    (line) =>
      line
        .match(/^│ (.+?) +│ (.+?) +│$/)
        ?.slice(1, 3)
        .join(': ') ?? [],
  );
  expect(shown).toEqual([`Address: ${server.address}`, ...rows]);
  expect(asked.filter((url) => url.endsWith('/lookup-self'))).toHaveLength(hasToken && !told.sealed ? 1 : 0);
});

it('the status of a server is asked for with the token of an earlier login', async () => {
  answers = { sealed: false, self: { display_name: 'bob', expire_time: null } };
  const here = DirectoryHere.make({
    COFFER_ADDR: server.address,
    COFFER_STORE: undefined,
    COFFER_MASTER_KEY: undefined,
  });
  here.write('home/.vault-token', 'cfr.x');
  chmodSync(here.file('home/.vault-token'), 0o600);
  const { out } = await here.run('status', { terminals: ['out', 'err'], columns: 120 });
  expect(out).toMatch(/│ Logged in as +│ bob /);
});
