import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/operations/catalogue.ts';
import type { CliShape } from '../../src/operations/declaration/operation.ts';
import { loadOperation } from '../../src/operations/runner.ts';
import { leaves } from './catalogue-leaves.ts';
import { DirectoryHere } from './directory-here.ts';

/** Beginnings of messages that say that something was removed, or that its removal was undone. */
const REMOVED =
  /^(?:Removed|Revoked|Deleted|Destroyed|Disabled|Reinstated|Restored|Released|Soft-deleted|Detached)/m;

const values = new Proxy({}, { get: (_, name) => (name === 'data' || name === 'tags' ? ['x'] : 'x') });

/** Returns the message of a command after success; empty if it only has one with a result. */
function doneText({ done }: CliShape<unknown>): string {
  try {
    return done?.(values) ?? '';
  } catch {
    return '';
  }
}

const removing = (
  await Promise.all(
    leaves(catalogue)
      .filter(([, { command }]) => command)
      .map(async ([path, { load }]) => [path, (await load()).declaration.cli ?? {}] as const),
  )
).flatMap(([path, cli]) => (REMOVED.test(doneText(cli)) ? [path] : []));

/** What follows the words of each of these commands where there is nothing to remove. */
const NOTHING: Readonly<Record<string, string>> = {
  'auth approle delete': 'nowhere',
  'auth approle destroy-accessor': 'deploy nowhere',
  'auth approle destroy-secret-id': 'deploy --in secret',
  'auth cert delete': 'nowhere',
  'auth cert delete-revocations': 'nowhere',
  'auth disable': 'nowhere',
  'auth jwt delete': 'nowhere',
  'auth userpass delete': 'nobody',
  'mounts remove': 'nowhere',
  'orgs delete': 'nowhere',
  'policy delete': 'nowhere',
  'projects delete': 'nowhere',
  'projects unbind': 'platform nowhere',
  'tags delete': 'nowhere',
  'tags detach': 'free --workspace web',
  'tags reserved delete': 'nowhere',
  'token revoke': 'nowhere',
  'token revoke-prefix': 'auth/nowhere',
  'token roles delete': 'nowhere',
  'transit keys delete': 'nowhere',
  'transit keys destroy': 'app 1',
  'transit keys reinstate': 'app 2',
  'transit keys revoke': 'app 1',
  'transit keys soft-delete': 'nowhere',
  'transit keys soft-delete-restore': 'app',
  'transit keys untag': 'app free',
  'transit restore': '--in nowhere',
  'workspaces delete': 'nowhere',
  'workspaces unbind': 'web nowhere',
  'workspaces untag': 'web free',
};

async function filled(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
  here.write('secret', 'nowhere');
  for (const line of [
    'transit keys rotate app',
    'transit keys rotate app',
    'transit keys destroy app 1 --yes',
    'orgs create acme',
    'workspaces create web',
    'projects create platform',
    'tags create free',
    'transit keys tag app used',
    ...['approle', 'cert', 'jwt', 'userpass'].map((type) => `auth enable ${type}`),
    'auth approle write deploy',
  ])
    await here.ok(line);
  return here;
}

describe('a command that removes something', () => {
  it('is tried below with nothing to remove, whichever it is', () => {
    expect(Object.keys(NOTHING).filter((path) => !removing.includes(path))).toEqual([]);
    expect(removing.filter((path) => NOTHING[path] === undefined)).toEqual([]);
  });

  it('never says on a terminal that it removed what did not exist', async () => {
    const here = await filled();
    for (const [path, rest] of Object.entries(NOTHING)) {
      const line = `${path} ${rest} --yes`;
      const { exitCode, err } = await here.run(line, { terminals: ['out', 'err'], columns: 200 });
      expect(err, line).not.toMatch(REMOVED);
      if (exitCode === 0)
        expect(err, line).toMatch(/nothing was (?:deleted|revoked|destroyed)\.|No changes made/);
    }
  });

  it('says so in a pipe as well, if its HTTP method is DELETE, and prints nothing else', async () => {
    const here = await filled();
    for (const path of removing) {
      const { route } = await loadOperation(path);
      if (![route].flat().some((one) => one.startsWith('DELETE '))) continue;
      const line = `${path} ${NOTHING[path]} --yes`;
      const { exitCode, out, err } = await here.run(line);
      expect(out, line).toBe('');
      expect(err, line).not.toMatch(REMOVED);
      if (exitCode === 0) expect(err, line).toMatch(/nothing was (?:deleted|destroyed)\.|No changes made/);
      expect((await here.run(`${line} --quiet`)).err, line).toMatch(exitCode === 0 ? /^$/ : /^coffer: /);
    }
    expect((await here.run('workspaces tag web used')).err).toBe('');
    expect((await here.run('workspaces tag web used')).err).toBe('');
    expect((await here.run('workspaces untag web used')).err).toBe('');
  });

  it('fails for a token that does not exist, in a pipe as on a terminal, without repeating it', async () => {
    const here = await DirectoryHere.withStore();
    const said =
      'coffer: no token with this ID or accessor, nothing was revoked (list the tokens and their accessors with "coffer token list")';
    expect(await here.refused('token revoke cfr.secret --yes', 3)).toBe(said);
    expect(await here.refused('token revoke cfr.secret --yes -o json', 3)).toBe(said);
    const typed = await here.run('token revoke cfr.secret --yes', {
      terminals: ['out', 'err'],
      columns: 200,
    });
    expect(typed).toMatchObject({ exitCode: 3, err: expect.stringContaining(said.slice(7)) });
    expect(await here.ok('write auth/token/revoke token=cfr.secret')).toBe('');
  });

  it('says how many of several tags a key had, and how many it got', async () => {
    const here = await filled();
    const said = async (line: string) =>
      (await here.run(line, { terminals: ['out', 'err'], columns: 200 })).err;
    for (const [line, text] of [
      ['transit keys untag app used free', 'Removed 1 tag from key app. 1 tag unchanged.'],
      ['transit keys tag app free', 'Added 1 tag to key app.'],
      ['transit keys tag app FREE team=core', 'Added 1 tag to key app. 1 tag unchanged.'],
      ['transit keys untag app team=web', 'No changes made: key app does not have the tag.'],
      ['transit keys untag app team=core free', 'Removed 2 tags from key app.'],
      [
        'workspaces unbind web a b',
        'No changes made: the workspace has no tag of its own with any of these keys.',
      ],
      ['projects unbind platform a', 'No changes made: the project has no tag of its own with this key.'],
      [
        'transit keys revoke app 2',
        'Revoked version 2 of key app. To undo this, run "coffer transit keys reinstate app 2".',
      ],
      ['transit keys revoke app 2', 'No changes made: version 2 of key app is already revoked.'],
      ['transit keys reinstate app 2', 'Reinstated version 2 of key app.'],
    ])
      expect(await said(line ?? ''), line).toBe(`${text}\n`);
  });
});
