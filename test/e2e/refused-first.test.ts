import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { promptsDouble, streamsDouble } from '../cli/streams.double.ts';
import { flip } from './followed.ts';
import { type Place, removePlace } from './harness.ts';
import { unwrapped } from './terminal.ts';
import { filledPlace, typedAt } from './typed.ts';

/* What will be refused is refused before a user is asked, and the next steps that are named can be typed. */

let bare: Place;
let here: Place;
beforeAll(async () => {
  ({ bare, here } = await filledPlace(
    [
      'transit keys create orders',
      'transit keys rotate orders',
      'orgs create acme',
      'auth enable userpass',
      'auth enable approle --path machines',
    ],
    { COFFER_ORG: 'acme' },
  ));
});
afterAll(() => removePlace(bare));

/** Runs a command as if typed at a terminal, in this process; each question is answered with yes. */
const typed = (line: string, place = here) => typedAt(place, line, { answers: [true] });

/** Changes that are refused, although their command asks for confirmation. */
const REFUSED: readonly (readonly [line: string, exitCode: number, message: string])[] = [
  ['transit keys delete orders', 1, 'key orders may not be deleted (run'],
  ['transit keys delete nowhere', 3, 'key "nowhere" not found'],
  ['transit keys config nowhere --exportable', 3, 'key "nowhere" not found'],
  [
    'transit keys trim orders --min-available-version 2',
    2,
    '--min-encryption-version of the key must be set',
  ],
  ['transit keys destroy orders 2', 1, 'the latest version of a key can be neither revoked nor destroyed'],
  ['transit keys destroy orders 7', 2, 'no such key version'],
  ['delete transit/keys/orders', 1, 'key orders may not be deleted'],
  ['policy delete default', 2, 'cannot delete default policy'],
  ['auth disable token', 2, 'the login method "token" cannot be disabled'],
  ['token revoke 0000', 3, 'no token with this ID or accessor, nothing was revoked'],
  ['slots remove 0000000000000000', 3, 'no slot "0000000000000000"'],
  ['projects delete nowhere', 3, 'not found'],
  ['mounts remove nowhere', 3, 'no mount "nowhere" (run "coffer mounts list")'],
  ['mounts remove auth/token', 3, 'no mount "auth/token"'],
  ['auth disable nowhere', 3, 'no login method "nowhere"'],
  ['policy delete nowhere', 3, 'no policy named: nowhere'],
  ['token roles delete nowhere', 3, 'no token role "nowhere"'],
  ['auth userpass delete nobody', 3, 'nobody'],
  ['auth approle delete nowhere --path machines', 3, 'no role nowhere'],
  ['tags reserved delete nowhere', 3, 'not found'],
  ['transit keys delete orders nowhere', 1, 'key orders may not be deleted'],
  ['orgs delete nowhere', 3, 'organization "nowhere" not found'],
  ['workspaces delete nowhere', 3, 'workspace "nowhere" not found'],
  ['tags delete nowhere', 3, 'tag "nowhere" not found'],
];

describe('a change that would be refused', () => {
  it.each(REFUSED)(
    'is refused to scripts as well before they lack --yes: %s',
    async (line, exitCode, message) => {
      expect(await here.refused(line, exitCode)).toContain(message);
    },
  );

  it.each(['transit keys delete orders', 'delete transit/keys/orders', 'slots remove 0000000000000000'])(
    'is refused to scripts for the missing --yes where the store stays locked: %s',
    async (line) => {
      const locked = here.with({ COFFER_MASTER_KEY: undefined });
      expect(await locked.refused(line, 2)).toContain('use --yes to skip the confirmation');
    },
  );

  it('is refused for a missing argument before --yes is missing', async () => {
    for (const line of ['token revoke', 'token revoke --yes'])
      expect(await here.refused(line, 2)).toContain(
        "missing required argument 'ID' (usage: coffer token revoke ID",
      );
    const { accessor } = JSON.parse(await here.ok('token create -o json')) as { accessor: string };
    expect(await here.refused(`token revoke ${accessor}`, 2)).toContain('use --yes to skip the confirmation');
  });

  it.each(REFUSED)('is refused before the user is asked: %s', async (line, exitCode, message) => {
    const refused = await typed(line);
    expect(refused).toMatchObject({ exitCode, asked: [] });
    expect(refused.stderr).toContain(message);
  });

  it('is asked about as lists name it: a slot with a master key', async () => {
    await here.ok('slots add --raw --label spare');
    const { asked } = await typed('slots remove spare');
    expect(asked).toEqual([expect.stringMatching(/^Remove slot [0-9a-f]{16} \(master key\)\? /)]);
  });

  it('is refused before the user is asked, when it is the last slot', async () => {
    const [{ id = '' } = {}] = (await here.json('slots list')) as { id: string }[];
    const refused = await typed(`slots remove ${id}`);
    expect(refused).toMatchObject({ exitCode: 1, asked: [] });
    expect(refused.stderr).toContain('the last slot that works cannot be removed');
  });
});

describe('deleting what does not exist', () => {
  it.each([
    ['mounts remove nowhere', 'No mount nowhere/; nothing was deleted.\n'],
    ['auth disable nowhere', 'No login method nowhere/; nothing was deleted.\n'],
    ['policy delete nowhere', 'No policy nowhere; nothing was deleted.\n'],
    ['token roles delete nowhere', 'No token role nowhere; nothing was deleted.\n'],
    ['auth userpass delete nobody', 'No user nobody; nothing was deleted.\n'],
    ['auth approle delete nowhere --path machines', 'No role nowhere; nothing was deleted.\n'],
  ])('is no error for scripts, which may repeat it, but is not called a deletion: %s', async (line, said) => {
    expect(await typed(`${line} --yes`)).toMatchObject({ exitCode: 0, stderr: said });
  });

  it('of another kind is refused with the command for it: a login method among the mounts', async () => {
    expect(await here.refused('mounts remove auth/machines --yes', 2)).toBe(
      'coffer: PATH: cannot unmount "auth/machines/" (it is a login method: run "coffer auth disable machines")',
    );
  });

  it('says of what existed that it was deleted', async () => {
    await here.ok('mounts add short-lived');
    expect((await typed('mounts remove short-lived --yes')).stderr).toBe('Removed mount short-lived/.\n');
    await here.ok('auth approle write passing --path machines');
    const role = await typed('auth approle delete passing --path machines --yes');
    expect(role.stderr).toBe('Deleted role passing.\n');
  });
});

describe('several names to delete', () => {
  const POLICY = 'path "x" { capabilities = ["read"] }';

  it.each([
    ['policy', 'policy write NAME -', 'policy delete', 'policy list', 'no policy named: nowhere'],
    ['user', 'auth userpass write NAME -', 'auth userpass delete', 'auth userpass list', 'no user nowhere'],
    [
      'role',
      'auth approle write NAME --path machines',
      'auth approle delete --path machines',
      'auth approle list --path machines',
      'no role nowhere',
    ],
    ['role', 'token roles write NAME', 'token roles delete', 'token roles list', 'no token role "nowhere"'],
  ])(
    'are deleted in one command, a %s each, but none if one does not exist: %s',
    async (_, write, remove, list, missing) => {
      for (const name of ['one', 'two', 'three'])
        await here.ok(write.replace('NAME', name), { input: POLICY });
      const names = async () =>
        (await here.ok(list)).split('\n').filter((name) => /^(?:one|two|three)$/.test(name));
      expect(await here.refused(`${remove} one nowhere two --yes`, 3)).toContain(missing);
      expect(await names()).toHaveLength(3);
      const streams = streamsDouble({ terminals: ['in', 'out', 'err'] });
      const prompts = promptsDouble([true, false]);
      const words = `${remove} one two`.split(' ');
      expect(await runCommandLine(words, streams, here.environment(), prompts)).toBe(1);
      expect(prompts.asked).toHaveLength(2);
      expect(await names()).toHaveLength(3);
      expect(await here.ok(`${remove} one two --yes`)).toBe('');
      expect(await names()).toEqual(['three']);
    },
  );

  it.each([
    ['orgs create fresh ""', "Name can't be blank (use a name)", 'orgs list'],
    [
      'workspaces create fresh "a b" --org acme',
      '("a b" has other characters)',
      'workspaces list --org acme',
    ],
    ['projects create fresh ab --org acme', 'Name is too short', 'projects list --org acme'],
  ])('make nothing if one is no name: %s', async (line, reason, list) => {
    const words = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
    expect(await here.refused(words, 2)).toContain(reason);
    expect(await here.ok(list)).not.toContain('fresh');
  });

  it('that fail in the middle name those that were done', async () => {
    await here.ok('transit keys create first-one');
    expect(await here.refused('transit keys rotate first-one nowhere', 3)).toContain(
      'key "nowhere" not found; already done: first-one (run',
    );
  });
});

describe('a next step that is named', () => {
  const commandIn = (text: string): string => /"coffer ([^"]+)"/.exec(text)?.[1] ?? '';

  it('allows the deletion of a key', async () => {
    await here.ok('transit keys create obsolete');
    await here.ok(commandIn(await here.refused('transit keys delete obsolete --yes', 1)));
    expect((await typed('transit keys delete obsolete')).asked).toHaveLength(1);
    expect(await here.ok('transit keys list')).not.toContain('obsolete');
  });

  it('allows the export of a key', async () => {
    await here.ok('transit keys create exported');
    const exporting = 'transit keys export exported --key-type encryption-key';
    const command = commandIn((await here.run(exporting)).stderr);
    await here.ok(`${command} --yes`);
    await here.ok(exporting);
  });

  it('leads from a missing organization to the list of them', async () => {
    await here.ok('orgs create globex');
    const refusal = await here.with({ COFFER_ORG: undefined }).refused('tags list', 2);
    expect(await here.ok(commandIn(refusal))).toBe('acme\nglobex');
    await here.ok('orgs delete globex --yes');
  });

  it('names the argument that is to be changed, when a store is copied onto another', async () => {
    await here.ok(['init', '--store', here.file('second')]);
    const refusal = await here.refused(['store', 'copy', here.file('store'), here.file('second')], 6);
    expect(refusal).toContain('(choose another location for TO)');
    await here.ok(['store', 'copy', here.file('store'), here.file('third')]);
  });

  it('is to restore a backup, when the only slot is damaged', async () => {
    const alone = here.with({ COFFER_STORE: here.file('alone') });
    await alone.ok('init');
    await alone.ok('store backup alone.coffer');
    const [slot = ''] = readdirSync(here.file('alone/generation-1/slots'));
    flip(here.file(`alone/generation-1/slots/${slot}`));
    const refusal = await alone.refused('transit keys list', 1);
    expect(refusal).not.toContain('another slot');
    const command = commandIn(refusal).replace('FILE', 'alone.coffer').replace('DIRECTORY', 'again');
    await here.ok(command);
    await here.with({ COFFER_STORE: here.file('again') }).ok('transit keys list');
  });

  it('is about standard input and --in, when "unseal" gets no secret', async () => {
    const server = here.with({ COFFER_ADDR: 'http://127.0.0.1:1', COFFER_STORE: undefined });
    expect(await server.refused('unseal', 2)).toContain(
      'no secret on standard input (pass a master key, passphrase or recovery share on standard input or with --in)',
    );
  });

  it('does not promise that a new master key opens an existing store', async () => {
    const wrong = here.with({ COFFER_MASTER_KEY: 'short' });
    expect(await wrong.refused('transit keys list', 2)).toContain('an existing store needs its own key');
  });
});

describe('input that no store would take', () => {
  let locked: Place;
  beforeAll(async () => {
    locked = bare.with({ COFFER_STORE: bare.file('locked'), XDG_RUNTIME_DIR: bare.file('run') });
    await locked.with({ COFFER_PASSPHRASE: 'secret' }).ok('init');
    await locked.with({ COFFER_PASSPHRASE: 'secret' }).ok('store backup locked.backup');
    writeFileSync(bare.file('bad.hcl'), 'path "x" {');
    writeFileSync(bare.file('bad.csv'), 'name,"tags');
    writeFileSync(bare.file('text'), 'plain text\n');
    mkdirSync(bare.file('filled'));
    writeFileSync(bare.file('filled/text'), 'plain text\n');
  });

  it.each([
    ['store restore DIR/locked.backup', 6, 'a store already exists in'],
    ['store restore DIR/locked.backup --store DIR/filled', 1, 'is not empty'],
    ['store restore DIR/text --store DIR/new', 1, 'is not a store backup'],
    ['store copy DIR/locked DIR/store', 6, 'a store already exists in'],
    ['store copy DIR/locked DIR/filled', 1, 'is not empty'],
    ['store copy DIR/nowhere DIR/new', 3, 'nowhere (give the location of an existing store for FROM)'],
    ['init --store DIR/text', 1, 'is a file'],
    ['init --store DIR/text/new', 1, 'part of the path is not a directory'],
    ['policy write x DIR/bad.hcl', 2, 'line 1, column 11'],
    ['policy write root DIR/text', 2, 'cannot update "root" policy'],
    ['policy write x DIR/nowhere', 2, 'no such file'],
    ['tags import DIR/bad.csv --org acme', 2, 'line 1: a quote'],
    ['secrets encrypt DIR/nowhere --key app', 2, 'no such file'],
    ['secrets set DIR/nowhere A', 2, 'cannot tell the format of'],
    ['exec -f DIR/nowhere -- true', 2, 'no such file'],
    ['transit envelope encrypt app DIR/nowhere', 2, 'no such file'],
    ['transit envelope encrypt app DIR/text --out DIR/text', 2, 'input and output are the same file'],
    ['transit encrypt app --in DIR/nowhere', 2, 'no such file'],
    ['transit sign app --in DIR/nowhere', 2, 'no such file'],
    ['token create --ttl soon', 2, 'invalid value "soon"'],
    ['slots add --recipient nothing', 2, 'not a recipient: "nothing"'],
    ['write transit/keys/app type', 2, 'is not KEY=VALUE'],
    ['agent offer app', 2, 'no protocol given'],
  ])('is refused before the passphrase is asked for: %s', async (line, exitCode, message) => {
    const refused = await typedAt(locked, line.replaceAll('DIR', bare.directory));
    expect(refused).toMatchObject({ exitCode, asked: [] });
    expect(unwrapped(refused.stderr)).toContain(message);
  });

  // Nothing is refused to root.
  it.skipIf(process.getuid?.() === 0)(
    'is refused before a passphrase is asked for: a store where none may be created',
    async () => {
      const closed = bare.file('closed');
      mkdirSync(closed, { mode: 0o555 });
      const refused = await typed(`init --store ${closed}/new`, locked);
      expect(refused).toMatchObject({ exitCode: 1, asked: [] });
      expect(refused.stderr).toContain(`cannot create ${closed}/new`);
    },
  );
});
