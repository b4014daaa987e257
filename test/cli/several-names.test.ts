import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/operations/catalogue.ts';
import { selfSigned } from '../servers/self-signed.ts';
import { leaves } from './catalogue-leaves.ts';
import { DirectoryHere } from './directory-here.ts';
import { promptsDouble } from './streams.double.ts';

/** Every command that takes one or several names; `NAMES` stands for these, `PAIRS` for NAME=1 of each. */
const LINES = [
  'orgs create NAMES',
  'transit keys create NAMES',
  'transit keys rotate NAMES',
  'transit keys tag app NAMES',
  'transit keys untag app NAMES',
  'transit keys soft-delete NAMES',
  'transit keys soft-delete-restore NAMES',
  'transit keys delete NAMES',
  'policy delete NAMES',
  'token roles delete NAMES',
  'auth approle delete NAMES',
  'auth cert delete NAMES',
  'auth jwt delete NAMES',
  'auth userpass delete NAMES',
  'workspaces create NAMES',
  'workspaces tag web NAMES',
  'workspaces untag web NAMES',
  'workspaces bind web PAIRS',
  'workspaces rebind web PAIRS',
  'workspaces unbind web NAMES',
  'workspaces delete NAMES',
  'projects create NAMES',
  'projects bind home PAIRS',
  'projects rebind home PAIRS',
  'projects unbind home NAMES',
  'projects delete NAMES',
  'tags delete NAMES',
  'tags create NAMES',
  'orgs delete NAMES',
];

/** Commands that have made, for each name, what another command takes. */
const BEFORE: Readonly<Record<string, string>> = {
  'transit keys delete': 'transit keys config NAME --deletion-allowed',
  'policy delete': 'policy write NAME p.hcl',
  'token roles delete': 'token roles write NAME',
  'auth approle delete': 'auth approle write NAME',
  'auth cert delete': 'auth cert write NAME --certificate @ca.pem',
  'auth jwt delete': 'auth jwt write NAME --user-claim sub --bound-audiences me',
  'auth userpass delete': 'auth userpass write NAME --token-ttl 1h -',
};

const commandIn = (line: string): string =>
  /^[a-z -]+(?= )/.exec(line.replace(/ (?:app|web|home)(?= )/, ''))?.[0] ?? '';

/** A store with what the lines name beside the names. */
async function prepared(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
  await here.ok('orgs create acme');
  await here.ok('workspaces create web');
  await here.ok('projects create home');
  for (const method of ['approle', 'cert', 'jwt', 'userpass']) await here.ok(`auth enable ${method}`);
  here.write('p.hcl', 'path "transit/*" { capabilities = ["read"] }');
  here.write('ca.pem', selfSigned(here.path).pem);
  return here;
}

describe('commands that take one or several names', () => {
  it('are all of these', async () => {
    const taking: string[] = [];
    for (const [path, entry] of leaves(catalogue)) {
      const { params, cli = {} } = (await entry.load()).declaration;
      const isMany = Object.values(params).some(
        ({ cli: { positional } }) => positional === 'each' || positional === 'variadic',
      );
      if (entry.command && isMany && (cli.done ?? cli.confirm ?? cli.instead)) taking.push(path);
    }
    expect(LINES.map(commandIn).toSorted()).toEqual(taking.toSorted());
  });

  it.each([
    ['one', ['first']],
    ['two', ['first', 'second']],
  ])('say on a terminal what they do with %s, by name', async (_, names) => {
    const here = await prepared();
    for (const line of LINES) {
      const before = BEFORE[commandIn(line)];
      for (const name of before === undefined ? [] : names)
        await here.ok(before?.replace('NAME', name) ?? '', { input: 'a-password' });
      const words = line
        .replace('NAMES', names.join(' '))
        .replace('PAIRS', names.map((name) => `${name}=1`).join(' '));
      const prompts = promptsDouble(names.map(() => true));
      const { exitCode, out, err } = await here.run(words, { prompts, terminals: ['in', 'out', 'err'] });
      const said = [out, err, ...prompts.asked].join('\n');
      expect({ words, exitCode, said }).toMatchObject({ words, exitCode: 0 });
      expect({ words, said }).toEqual({
        words,
        said: expect.not.stringMatching(/undefined|null|\bNaN\b|\[object/),
      });
    }
  });

  it('name the key that is soft-deleted, and how it is restored in the store that was named', async () => {
    const here = await DirectoryHere.withStore();
    const undo = 'coffer transit keys soft-delete-restore app';
    const err = ['err'] as const;
    expect((await here.run('transit keys soft-delete app', { terminals: err, columns: 200 })).err).toBe(
      `Soft-deleted key app. To undo this, run "${undo}".\n`,
    );
    expect((await here.run('transit keys soft-delete app --store .store', { terminals: err })).err).toMatch(
      /run\s"coffer transit keys soft-delete-restore app --store .store"\.\n$/,
    );
    expect(await here.refused('transit encrypt app text', 1)).toContain(`(restore it first with "${undo}")`);
    expect(
      (await here.run('transit keys soft-delete-restore app', { terminals: err, columns: 200 })).err,
    ).toBe('Restored key app.\n');
  });

  it.each([
    ['transit keys create zz --exportable true', 'leave out "true"'],
    ['transit keys create --exportable true zz', 'leave out "true"'],
    ['transit keys create zz --exportable false', 'leave out "--exportable false"'],
    ['transit keys create --yes True', 'leave out "True"'],
    ['transit keys delete app -yes true', 'leave out "true"'],
    ['tags create app --quiet true', 'leave out "true"'],
  ])('take no answer to a switch for one of them: %s', async (line, hint) => {
    const here = await DirectoryHere.withStore();
    const said = await here.refused(line, 2);
    expect(said).toMatch(/--(?:exportable|yes|quiet) takes no value/);
    expect(said).toContain(`(${hint}; see "coffer`);
    expect(await here.ok('transit keys list')).toBe('app');
  });

  it('may be called true where no switch is before them', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create true false --exportable');
    expect(await here.ok('transit keys list')).toBe('app\nfalse\ntrue');
  });
});
