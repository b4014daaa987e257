import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { canUseTerminals, onTerminal, unwrapped } from './terminal.ts';

/** What is asked, said and warned of while a person is watching, and how that is switched off. */
let bare: Place;
let here: Place;
beforeAll(async () => {
  bare = emptyPlace();
  here = bare.with({ COFFER_MASTER_KEY: MASTER_KEY, COFFER_ORG: 'acme' });
  await here.ok('init');
  await here.ok('orgs create acme');
  await here.ok('workspaces create web');
});
afterAll(() => removePlace(bare));

it('init of a store that is there is fine with --if-missing, and asks for nothing', async () => {
  expect(await here.ok('init --if-missing')).toBe('');
  expect(await bare.refused('init', 6)).toContain('a store already exists in');
  expect(await bare.ok('init --if-missing')).toBe('');
});

it('a weak passphrase is told of wherever it comes from', async () => {
  const made = await bare.with({ COFFER_PASSPHRASE: 'hunter2' }).run('init --store weak');
  expect(made.exitCode).toBe(0);
  expect(made.stderr).toContain('warning: weak passphrase: it is a common password');
  const added = await here.run('slots add --passphrase', {
    environment: { COFFER_NEW_PASSPHRASE: 'kK8&xLw2.q%d' },
  });
  expect(added.exitCode).toBe(0);
  expect(added.stderr).not.toContain('weak');
});

it('what is wrong with the options of a new slot is said before anything is unlocked', async () => {
  expect(await bare.refused('slots add', 2)).toContain('exactly one kind of slot can be added');
  expect(await bare.refused(['slots', 'add', '--key-file', 'no where'], 2)).toContain(
    `no such file (create one with "coffer keygen --out 'no where'")`,
  );
});

it('every command that is asked for a document gives one', async () => {
  await here.ok('orgs create gone');
  await here.ok('tags create blue');
  for (const line of [
    'tags attach blue --workspace web',
    'tags delete blue --yes',
    'orgs delete gone --yes',
  ]) {
    expect(await here.json(line)).toEqual({});
  }
  expect(await here.json('rekey')).toMatchObject({ files: expect.any(Number) });
  expect(await here.json('delete sys/policy/none --yes')).toEqual({});
});

it('people are told of flags, not of what the API calls them', async () => {
  expect(await here.ok('transit sign --help')).toMatch(/Older name of --hash-algorithm/);
  await here.ok('transit keys create wide --type rsa-2048');
  const refused = await here.refused('transit sign wide x --hash-algorithm none', 2);
  expect(refused).toContain('--signature-algorithm pkcs1v15');
  expect(refused).not.toContain('_');
  expect(await here.refused('workspaces list --sort foo', 2)).toContain('use one of name, -name');
});

it('a key that shall be exportable from now on needs a yes', async () => {
  await here.ok('transit keys create stays');
  expect(await here.refused('transit keys config stays --exportable', 2)).toContain('use --yes');
  await here.ok('transit keys config stays --deletion-allowed');
  await here.ok('transit keys config stays --exportable --yes');
});

describe.skipIf(!canUseTerminals)('on a terminal', () => {
  it('Enter makes a passphrase of words, which is shown once and opens the store', async () => {
    const made = onTerminal(bare, 'coffer init --store words', { steps: [['New passphrase .*Enter', '\r']] });
    expect(made.exitCode).toBe(0);
    expect(made.text).not.toContain('weak');
    const [passphrase = ''] = /[a-z]+(-[a-z]+){6}/.exec(made.text) ?? [];
    await bare.with({ COFFER_PASSPHRASE: passphrase }).ok('transit keys list --store words');
  });

  it.each(['--no-prompt', 'COFFER_NO_PROMPT'])('nothing is asked with %s', (way) => {
    const environment = way === 'COFFER_NO_PROMPT' ? { [way]: '1' } : {};
    const option = way === 'COFFER_NO_PROMPT' ? '' : way;
    const locked = onTerminal(bare, `coffer transit keys list ${option}`, { environment });
    expect(locked.exitCode).toBe(4);
    const deleting = onTerminal(here, `coffer orgs delete acme ${option}`, { environment });
    expect(deleting.exitCode).toBe(2);
    expect(unwrapped(deleting.text)).toContain('use --yes');
  });

  it('a file that is there is replaced after a yes, and stays after a no', () => {
    writeFileSync(bare.file('key'), 'precious');
    const kept = onTerminal(bare, 'coffer keygen --out key', { steps: [['Overwrite key', 'n\r']] });
    expect(kept.exitCode).toBe(6);
    expect(readFileSync(bare.file('key'), 'utf8')).toBe('precious');
    const replaced = onTerminal(bare, 'coffer keygen --out key', { steps: [['Overwrite key', 'y\r']] });
    expect(replaced.exitCode).toBe(0);
    expect(readFileSync(bare.file('key'), 'utf8')).not.toBe('precious');
  });

  it('one file that is encrypted becomes FILE.coffer, as several do', async () => {
    await here.ok('transit keys create files');
    writeFileSync(here.file('one.txt'), 'text');
    const done = onTerminal(here, 'coffer transit envelope encrypt files --in one.txt');
    expect(done.exitCode).toBe(0);
    expect(existsSync(here.file('one.txt.coffer'))).toBe(true);
    expect(onTerminal(here, 'coffer transit envelope decrypt --in one.txt.coffer').text).toContain('text');
  });

  it('a missing file is told of before a passphrase is asked for', () => {
    for (const verb of ['encrypt files', 'decrypt', 'header --verify', 'rewrap']) {
      const missing = onTerminal(bare, `coffer transit envelope ${verb} --in nowhere`);
      expect(missing.exitCode).toBe(2);
      expect(missing.text).toContain('no such file');
      expect(missing.text).not.toContain('Passphrase');
    }
  });

  it('what a mistyped name has made is said once', async () => {
    expect(onTerminal(here, 'coffer transit encrypt mistyped x').text).toContain(
      'Created key mistyped, which did not exist.',
    );
    expect(onTerminal(here, 'coffer transit encrypt mistyped x').text).not.toContain('Created');
    expect((await here.run('transit encrypt other x')).stderr).toBe(
      'Created key other, which did not exist.\n',
    );
    expect((await here.run('transit encrypt other x')).stderr).toBe('');
    const tagged = onTerminal(here, 'coffer workspaces tag web env:prd');
    expect(tagged.text).toContain('Created tag env:prd, which did not exist.');
    expect(onTerminal(here, 'coffer workspaces tag web env:prd').text).not.toContain('Created');
  });

  it('a server that cannot listen, or cannot record, says so before anybody is asked for a secret', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    for (const [options, refusal] of [
      [`--listen ${taken}`, `cannot listen on ${taken}: another program listens there`],
      ['--listen 127.0.0.1:0 --audit-log nowhere/log', 'cannot open the audit log nowhere/log'],
      ['--listen 127.0.0.1:0 --tls-cert a.pem --tls-key b.pem', '--tls-cert: cannot read'],
    ] as const) {
      const { text, exitCode } = onTerminal(bare, `coffer serve ${options}`);
      expect(text.replace(/\s+/g, ' ')).toContain(refusal);
      expect(text).not.toMatch(/master key/i);
      expect(exitCode).not.toBe(0);
    }
    other.close();
  });

  it('a server in the background starts sealed, and says why, instead of being stopped', () => {
    const { text } = onTerminal(bare, 'set -m; coffer serve --socket s.sock & read -r; kill %1; wait %1', {
      steps: [['cannot prompt', '\r']],
    });
    expect(text.replace(/\s+/g, ' ')).toContain('it cannot prompt in the background');
  });

  it('a server starts sealed when that is asked for, and says so in both forms', () => {
    const { text } = onTerminal(
      here,
      'set -m; coffer serve --sealed --socket t.sock & until [ -S t.sock ]; do sleep 0.1; done; coffer status --address unix:$PWD/t.sock -o json; kill %1; wait %1',
    );
    expect(text.replace(/\s+/g, ' ')).toContain(
      'the server starts sealed; run "coffer unseal --address unix:',
    );
    expect(text).not.toContain('in the background');
    expect(text).toMatch(/"locked": true/);
    expect(text).toMatch(/"sealed": true/);
  });

  it.each([
    ['a plain locale', { LC_ALL: 'C' }],
    ['a plain terminal', { TERM: 'dumb' }],
  ])('tables are drawn with what %s has', (_, environment) => {
    const { screen } = onTerminal(here, 'coffer orgs list', { environment });
    expect(screen).toContain('| acme');
    expect([...screen].filter((char) => char > '~')).toEqual([]);
  });

  it('the accessors of tokens stay whole in 80 columns', async () => {
    await here.ok('token create --display-name a-name-that-goes-on --policy one-policy --policy two');
    const [accessor = ''] = (await here.ok('token list')).split('\n');
    expect(onTerminal(here, 'coffer token list', { columns: 80 }).text).toContain(accessor);
  });

  it('what cannot be taken back is said of a new key', () => {
    const made = onTerminal(here, 'coffer transit keys create leaves --exportable --allow-plaintext-backup');
    expect(made.text.replace(/\s+/g, ' ')).toContain(
      'It is allowed to be exported and be backed up in plaintext; this cannot be undone.',
    );
    const asked = onTerminal(
      here,
      'coffer transit keys create shut && coffer transit keys config shut --exportable',
      {
        steps: [['Allow key shut to be exported', 'n\r']],
      },
    );
    expect(asked.exitCode).toBe(1);
  });
});
