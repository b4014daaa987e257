import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { promptsDouble, streamsDouble } from '../cli/streams.double.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';
import { typedAt } from './typed.ts';

/* What somebody meets at a terminal who does the next best thing. */

let here: Place;
beforeAll(async () => {
  here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY, NO_COLOR: '1' });
  for (const line of ['init', 'transit keys create app', 'orgs create acme']) await here.ok(line);
});
afterAll(() => removePlace(here));

/** Runs a command as if typed at a terminal, in this process. */
const typed = (line: string, place = here) => typedAt(place, line, { columns: 1000 });

/** Standard output of a command on a terminal. */
async function shown(line: string): Promise<string> {
  const streams = streamsDouble({ terminals: ['out', 'err'], columns: 300 });
  expect(await runCommandLine(line.split(' '), streams, here.environment())).toBe(0);
  return streams.written.out;
}

/** Words of the rows of a table. */
const rowsOf = (table: string): readonly string[] =>
  table
    .split('\n')
    .filter((line) => line.startsWith('│'))
    .map((line) => line.replaceAll('│', '').trim().replace(/ {2,}/g, ' ').trim());

describe('a command at a terminal', () => {
  it('shows users, roles and tokens in words, where a script has the names of the API', async () => {
    await here.ok('auth enable userpass --path people');
    const password = here.file('password');
    writeFileSync(password, 'a password');
    await here.ok(
      `auth userpass write ada --path people --token-policies clerk --token-ttl 8h --in ${password}`,
    );
    const read = 'auth userpass read ada --path people';
    expect(rowsOf(await shown(read))).toEqual(['Token policies clerk', 'Token TTL 8 hours']);
    expect(rowsOf(await shown(`${read} -o wide`))).toContain('token_ttl 28800 (8 hours)');
    expect(await here.ok(read)).toContain('token_policies\t["clerk"]\ntoken_no_default_policy\tfalse\n');
    expect(await here.ok(`${read} -o table`)).toMatch(/^Field +Value\ntoken_policies +\["clerk"\]\n/);
    const token = await here.ok('token create --policy default --ttl 1h');
    const details = await shown(`token lookup ${token}`);
    expect(rowsOf(details)).toEqual(
      expect.arrayContaining(['Created just now', 'Policies default', 'Type service', 'Renewable yes']),
    );
    expect(details).not.toContain(token);
    expect(await here.ok(`token lookup ${token}`)).toContain(`\nid\t${token}\n`);
    expect(rowsOf(await shown(`token lookup ${await here.ok('token create --policy root')}`))).toContain(
      'Expires never',
    );
  });

  it('names the project of a workspace, where a script has its ID', async () => {
    await here.ok('projects create Shop --org acme');
    await here.ok('workspaces create web --project Shop --org acme');
    const rows = rowsOf(await shown('workspaces show web --org acme'));
    expect(rows).toEqual(
      expect.arrayContaining(['Name web', 'Project Shop', expect.stringMatching(/^ID ws-/)]),
    );
    expect(rowsOf(await shown('workspaces show web --org acme -o wide'))).toContainEqual(
      expect.stringMatching(/^Project prj-/),
    );
    expect(await here.ok('workspaces show web --org acme -o table')).toMatch(
      /^Project +prj-\S+$[\s\S]*^ID +ws-/m,
    );
  });

  it('says how tags get to workspaces and keys, if neither is named', async () => {
    expect(await here.refused('tags attach env:prod --org acme', 2)).toBe(
      'coffer: missing required value --workspace (use --workspace WS... ("coffer workspaces list" lists them) or --key NAME..., e.g. "coffer tags attach env:prod --workspace billing --workspace web --org acme")',
    );
    expect(await here.refused('tags add env:prod --workspace web', 2)).toContain(
      'did you mean "coffer tags create" or "coffer tags attach"?',
    );
  });

  it('answers habits of vault that have no equal here', async () => {
    expect(await here.refused('auth list -detailed', 2)).toContain('did you mean -o wide?');
    for (const word of ['list', 'disable'])
      expect(await here.refused(`audit ${word}`, 2)).toContain('is set by "coffer serve --audit-log FILE"');
    expect(await here.refused('token lookup nosuch', 4)).toBe(
      'coffer: ID: unknown token (it may have expired or been revoked; "coffer token list" lists the accessors of tokens)',
    );
  });

  it('says what it wrote to a file', async () => {
    await here.ok('auth enable approle --path machines');
    await here.ok('auth approle write ci --path machines');
    const out = here.file('secret-id');
    expect((await typed(`auth approle secret-id ci --path machines --out ${out}`)).stderr).toBe(
      `Wrote the secret ID to ${out}.\n`,
    );
    const json = here.file('key.json');
    expect((await typed(`transit keys read app -o json --out ${json}`)).stderr).toBe(
      `Wrote the result to ${json}.\n`,
    );
    const quiet = await here.run(`transit encrypt app x --out ${here.file('ciphertext')}`);
    expect(quiet).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('tells that a request by its path was done where nothing comes back, and no script', async () => {
    await here.ok('auth enable userpass --path crew');
    const write = 'write auth/crew/users/ada password=long-enough policies=readers';
    for (const [line, told] of [
      [write, 'Wrote auth/crew/users/ada.\n'],
      ['delete auth/crew/users/ada --yes', 'Deleted auth/crew/users/ada, if it existed.\n'],
    ] as const) {
      expect(await typed(line)).toMatchObject({ exitCode: 0, stdout: '', stderr: told });
      expect(await here.run(line)).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    }
    // What comes back is enough.
    expect((await typed('write transit/cache-config size=500')).stderr).toBe('');
    expect((await typed('list auth/crew/users')).stderr).not.toMatch(/Wrote|Deleted/);
  });

  it('names the path that was meant by one with a mistyped word', async () => {
    for (const [line, meant] of [
      ['write transit/keys/app/rotat', 'transit/keys/app/rotate'],
      ['read transit/kyes/app', 'transit/keys/app'],
      ['list transti/keys', 'transit/keys'],
      ['write auth/token/craete', 'auth/token/create'],
    ] as const)
      expect((await typed(line)).stderr).toContain(`(did you mean "${meant}"?)`);
    expect((await typed('write transit/keys/app/freeze')).stderr).toContain(
      'the mount exists: check the path after it',
    );
  });

  it('names the commands for a path that another one was given, and how base64 is made', async () => {
    expect(await here.refused('read transit/decrypt/app', 2)).toBe(
      'coffer: transit/decrypt/app does not support this operation (use "coffer write transit/decrypt/app")',
    );
    expect(await here.refused('write sys/policies/acl', 2)).toContain('(use "coffer list sys/policies/acl")');
    expect(await here.refused('write transit/encrypt/app plaintext=hello', 2)).toBe(
      'coffer: plaintext: illegal base64 data at input byte 4 ' +
        '(base64 is expected, for example plaintext="$(printf %s hello | base64)")',
    );
    expect(
      (await here.run(['write', 'transit/encrypt/app', 'batch_input=[{"plaintext":"aGVsbG8="}]'])).stderr,
    ).toContain(
      'batch_input[0]: must be an object (the value of batch_input is taken as text: give objects and lists in a JSON object with all parameters, as "@FILE" or "-")',
    );
    expect(
      await here.ok(['write', 'transit/encrypt/app', 'plaintext=aGVsbG8=', '--field', 'ciphertext']),
    ).toMatch(/^service:v1:/);
  });

  it('asks for no secret to back up to a directory that does not exist, and names the file as it was typed', async () => {
    const file = here.file('none/store.backup');
    expect(await here.with({ COFFER_MASTER_KEY: undefined }).refused(`store backup ${file}`, 1)).toBe(
      `coffer: cannot write ${file}: the directory ${here.file('none')} does not exist (create the directory first, or use another path)`,
    );
  });

  it('names the keys that sign if none is given to sign with', async () => {
    await here.ok('transit keys create release --type ed25519');
    expect((await typed('sign package.json')).stderr).toContain(
      '(keys: release; use "coffer sign package.json --key NAME")',
    );
    await here.ok('transit keys config release --deletion-allowed');
    await here.ok('transit keys delete release --yes');
  });

  it('names the keys that there are if none is given for a file, and says that nothing is left to encrypt', async () => {
    const file = here.file('a.env');
    writeFileSync(file, 'A=1\nB=2\n');
    expect((await typed(`secrets encrypt ${file}`)).stderr).toContain('(keys: app; use --key NAME, or');
    expect((await typed(`secrets encrypt --key app ${file}`)).stderr).toContain('Encrypted 2 values in ');
    expect((await typed(`secrets encrypt --key app ${file}`)).stderr).toBe(
      `Nothing to encrypt in ${file}: 2 values are encrypted already.\n`,
    );
  });

  it('shows when the versions of a key were made that is read by its path, and a script what the API says', async () => {
    const streams = streamsDouble({ terminals: ['out', 'err'], columns: 300 });
    await runCommandLine(['read', 'transit/keys/app'], streams, here.environment());
    expect(streams.written.out).toMatch(/│ keys +│ 1: 2\d{3}-\S+Z +│/);
    expect(await here.ok('read transit/keys/app')).toMatch(/keys\t\{"1":\d{10}\}/);
  });

  it('names the organizations that there are if none is given', async () => {
    expect((await typed('tags list')).exitCode).toBe(0);
    await here.ok('orgs create globex');
    const { exitCode, stderr } = await typed('tags list');
    await here.ok('orgs delete globex --yes');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--org (organizations: acme, globex; use --org NAME or set COFFER_ORG;');
  });

  it('refuses the names of files for tags, which the shell puts in the place of a *', async () => {
    expect(await here.refused('workspaces list --org acme --without-tag audit.log', 2)).toBe(
      `coffer: --without-tag: "audit.log" cannot be the name of a tag (if you meant the wildcard *, quote it: --without-tag '*')`,
    );
    await here.ok(['workspaces', 'list', '--org', 'acme', '--without-tag', '*']);
  });

  it('warns of a key that does not exist before it is believed who may use it', async () => {
    const { exitCode, stderr } = await typed('policy who --key ap --operation decrypt');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'coffer: warning: no key "ap"\n' });
    expect((await typed('policy who --key app --operation decrypt')).stderr).toBe('');
  });

  it('asks for no password of a user where the login method is not enabled', async () => {
    const { exitCode, stderr, asked } = await typed('auth userpass write ada');
    expect({ exitCode, asked }).toEqual({ exitCode: 3, asked: [] });
    expect(stderr).toBe(
      'coffer: no login method at "auth/userpass" (enable it with "coffer auth enable userpass")\n',
    );
    await here.ok('auth enable approle');
    expect(await here.refused('auth enable approle', 6)).toContain(
      'approle is already enabled at approle/ (use --path for another one)',
    );
  });

  it('asks for the password of a user again if both entries differ, and takes no pipe for it', async () => {
    await here.ok('auth enable userpass --path staff');
    const { asked, stderr, exitCode } = await typedAt(here, 'auth userpass write bob --path staff', {
      answers: ['one', 'other', 'right', 'right'],
    });
    expect({ exitCode, asked: asked.length }).toEqual({ exitCode: 0, asked: 4 });
    expect(stderr).toBe('The entries do not match, try again.\nSaved user bob.\n');
    const piped = streamsDouble({ terminals: ['out', 'err'], input: 'the next name\n' });
    const prompts = promptsDouble(['right', 'right']);
    const line = 'auth userpass write carol --path staff'.split(' ');
    expect(await runCommandLine(line, piped, here.environment(), prompts)).toBe(0);
    expect(prompts.asked.length).toBe(2);
    expect(Buffer.from(piped.in.readAll(100)).toString()).toBe('the next name\n');
    const read = (await here.json('auth userpass list --path staff')) as { keys: string[] };
    expect(read.keys).toEqual(['bob', 'carol']);
  });

  it('ends decrypted text with a line end, whichever command decrypts it', async () => {
    writeFileSync(here.file('open'), 'text');
    writeFileSync(here.file('closed'), 'text\n');
    for (const name of ['open', 'closed']) {
      await here.ok(`transit envelope encrypt app --in ${name} --out ${name}.coffer`);
      const path = here.file(`${name}.coffer`);
      expect(await typed(`transit envelope decrypt --in ${path}`)).toMatchObject({
        stdout: 'text\n',
        stderr: '',
      });
      expect((await here.run(`transit envelope decrypt --in ${path} --out -`)).stdout).toBe(
        readFileSync(here.file(name), 'utf8'),
      );
    }
  });

  it('says of an unknown login method how a user logs in, and which parameter is missing', async () => {
    const remote = here.with({ COFFER_ADDR: 'http://127.0.0.1:1' });
    expect(await remote.refused('login ada', 2)).toMatch(
      /^coffer: METHOD: unknown login method "ada" \(.*; users log in with "coffer login userpass username=NAME"\)$/,
    );
    expect(await remote.refused('login userpass', 2)).toContain('add it: coffer login userpass username=…');
  });

  it('does not call a secret of another kind wrong when the passphrase is asked for', async () => {
    const place = here.with({ COFFER_STORE: here.file('two'), COFFER_PASSPHRASE: 'one of many words' });
    await place.ok('init');
    const key = await place.ok('slots add --raw');
    const forgotten = place.with({ COFFER_PASSPHRASE: undefined, COFFER_MASTER_KEY: key });
    const streams = streamsDouble({ terminals: ['in', 'err'], columns: 1000 });
    const prompts = promptsDouble(['wrong', 'wrong', 'wrong']);
    const exitCode = await runCommandLine(
      ['passphrase', 'change'],
      streams,
      forgotten.environment(),
      prompts,
    );
    expect(exitCode).toBe(4);
    expect(streams.written.err).not.toContain('warning: the store cannot be unlocked with COFFER_MASTER_KEY');
  });
});

describe.runIf(canUseTerminals)('a question on a narrow terminal', () => {
  it('is broken between its words', async () => {
    await here.ok('transit keys create old');
    await here.ok('transit keys config old --deletion-allowed');
    const { text } = onTerminal(here, 'coffer transit keys delete old', {
      columns: 50,
      steps: [['y/N', 'n\r']],
    });
    const question = text.slice(0, text.indexOf('y/N')).split('\n');
    expect(question.length).toBeGreaterThan(1);
    expect(question.join(' ').replace(/\s+/g, ' ')).toContain(
      'Data encrypted with it can never be decrypted',
    );
  });
});
