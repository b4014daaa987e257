import { describe, expect, it } from 'vitest';
import { startServer } from '../servers/serving.ts';
import { DirectoryHere } from './directory-here.ts';
import { commandsIn, pasted } from './pasted.ts';
import { promptsDouble } from './streams.double.ts';

const LIMIT = '--secret-id-num-uses: "coffer auth approle read deploy';
const TYPES = 'default-service, default-batch)';
/** Mistakes, each with a part of its only text. */
const SAID_ONCE: readonly (readonly [line: string, said: string])[] = [
  ['auth approle secret-id deploy --num-uses 9', `${LIMIT}" shows it)`],
  ['auth approle secret-id deploy --num-uses 9 --path ci', `${LIMIT} --path ci" shows it)`],
  ['auth approle custom-secret-id deploy --in none', 'cannot read none'],
  ['auth approle custom-secret-id deploy -', 'coffer: missing secret id'],
  ['token roles write q --path-suffix -', 'coffer: invalid --path-suffix (use at least'],
  [
    'token roles write q --token-type foo',
    `coffer: invalid --token-type value "foo" (use one of service, batch, ${TYPES}`,
  ],
  ['auth approle write q --token-type foo', '(use one of service, batch, default)'],
  ['transit keys set-certificate signer --in text', '(use PEM blocks of type CERTIFICATE)'],
  ['transit envelope encrypt --metadata a=b orders f', '--metadata took "orders" and "f" as well'],
  ['write transit/encrypt/app plaintext=@@', 'the first @ says that the rest is the name of a file'],
  ['secrets set .env A', 'coffer: no key given to encrypt .env with'],
  ['secrets encrypt -', 'coffer: no key given to encrypt standard input with'],
];

describe('a mistake is answered with what helps:', () => {
  it.each([
    ['help nope', '("coffer --help" lists the commands, "coffer help help" the topics)'],
    ['token create-by-role rl', 'unknown role rl (run "coffer token roles list" to list them)'],
    ['help sharin', 'did you mean "sharing"?'],
    ['tags import nofile --org o', 'cannot read nofile: no such file'],
    ['tags apply nofile --org o', 'cannot read nofile: no such file'],
    ['auth userpass write ada --password x', 'leave it out: the command asks for the password'],
    ['transit keys list ord', '(to filter the list, use "coffer transit keys list | grep ord"; see'],
    ['transit keys list ord*', 'use "coffer transit keys list | grep ord"; see'],
    ['transit keys list --json=name', 'did you mean -o json?'],
    ['transit keys config orders --auto-rotate 30', 'did you mean --auto-rotate-period?'],
    ['transit envelope decrypt -i k.txt f.age', 'did you mean --identity?'],
    ['transit envelope decrypt --passphrase f.age', 'leave it out: the command asks for the passphrase'],
    ['transit envelope encrypt -p f', 'did you mean --passphrase?'],
    ['audit show a.log --operation decrypt', 'use --path, e.g. --path transit/decrypt/orders'],
    ['audit show a.log -n 2', 'use --last N'],
    ['unlock --ttl 1h', 'did you mean --for?'],
    ['run -f .env -- printenv X', 'did you mean "coffer exec -f .env -- printenv X"?'],
    ['exec-env .env env', 'did you mean "coffer exec -f .env -- sh -c env"?'],
    ['ext precommit', 'did you mean "coffer secrets git-setup"?'],
    ['workspaces tags add web prod', 'did you mean "coffer workspaces tag"?'],
    ['tags unused', 'did you mean "coffer tags list --unused"?'],
    ['-G', 'did you mean "coffer transit keys create NAME --type ed25519"?'],
    ['store list a.backup', 'did you mean "coffer store verify"?'],
    ['secrets encrypt b.json', 'b.json:2: not valid JSON: the file ends where a value is expected'],
    ['keygen -o key.txt', '(for a file, use --out key.txt; use one of table, wide, json, raw)'],
    ['secrets decrypt b.json -o plain.json', '(for a file, use --stdout > plain.json; use one of '],
    ['verify nowhere.txt --key releases', 'FILE: cannot read nowhere.txt: no such file'],
    [
      'sign -o x.sig b.json',
      'run "coffer sign - --key NAME < b.json > x.sig"; use one of table, wide, json, raw)',
    ],
    ['sign b.json --key k -o x.sig', 'run "coffer sign - --key k < b.json > x.sig"'],
  ])('names what was meant, or where the mistake is: %s', async (line, hint) => {
    const here = await DirectoryHere.withStore();
    here.write('b.json', '{"a": "x",\n "b":');
    expect(await here.refused(line, 2)).toContain(hint);
  });

  it('the policy of a new token is never corrected to root', async () => {
    const here = await DirectoryHere.withStore();
    for (const name of ['rott', 'roott', 'Root', 'defalt']) {
      const { err } = await here.run(['token', 'create', '--policy', name]);
      expect(err).not.toContain('"root"');
      if (name === 'defalt') expect(err).toContain('did you mean "default"?');
    }
  });

  it('a dash in the place of a key is standard input, as elsewhere', async () => {
    const here = await DirectoryHere.withStore();
    const { outBytes: input } = await here.run('transit envelope encrypt app -', { input: 'text' });
    expect(await here.ok('transit envelope decrypt -', { input })).toBe('text');
    expect(await here.ok('transit envelope header - -o json', { input })).toContain('"name":"app"');
  });

  it('a directory in the place of a key is read as with --in', async () => {
    const here = await DirectoryHere.withStore();
    here.write('f.txt', 'text');
    await here.ok('transit envelope encrypt app --in f.txt --out f.txt.coffer');
    await here.ok('transit envelope decrypt . --force', { input: '' });
    expect(here.read('f.txt')).toBe('text');
    expect(await here.ok('transit envelope header ./', { input: '' })).toContain('f.txt.coffer');
  });
});

describe('a word that every object of the language has', () => {
  const LINES = [
    'W',
    'W x y',
    'create W x',
    'get W x',
    'run W --',
    'exec-env W x',
    'W --W',
    '--W x',
    '-W',
    'help W',
    'token W x',
    'transit W x',
    'transit keys W x',
    'transit encrypt --W x',
    'secrets W x',
    'tags W x',
    'workspaces list --W x',
    'status -o W',
    'audit W x',
    'login W',
    'login method=W',
    'verify W x y',
    'unlock --for W',
    'completion W',
    'store W x',
    'team W x',
    'read W',
    'list W x',
    'delete W x',
    'write W x',
  ];

  it.each(['constructor', 'valueOf', 'toString', '__proto__', 'hasOwnProperty'])(
    'is a mistake like any other in every place of a command line: %s',
    async (word) => {
      const here = await DirectoryHere.withStore();
      for (const line of LINES) {
        const { exitCode, err } = await here.run(line.replaceAll('W', word));
        expect(err, line).not.toMatch(/unexpected|native code|\[object/);
        expect(exitCode, line).not.toBe(0);
      }
    },
  );
});

describe('a mistake is answered before anything is asked:', () => {
  it('a signature that is not there is named, and never taken for a key', async () => {
    const here = await DirectoryHere.withStore();
    here.write('f', 'text');
    for (const [line, why] of [
      ['verify f.sig f', 'no file f.sig, and the file comes first, then its signature; use'],
      ['verify f f.sig', 'no file f.sig; use'],
    ] as const)
      expect(await here.refused(line, 2)).toContain(`${why} "coffer verify f f.sig --key NAME"`);
  });

  it('a key, a value and a signature in any order lead to the command that verifies it', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create rel --type ed25519');
    const signature = await here.ok('transit sign rel hi');
    for (const line of [`transit verify rel hi ${signature}`, `transit verify rel ${signature} hi`])
      expect(await pasted(here, await here.refused(line, 2), {})).toHaveLength(1);
    const [command = ''] = commandsIn(await here.refused(`transit verify ${signature} hi rel`, 2));
    expect(command).toBe(`transit verify NAME VALUE --signature ${signature}`);
    here.write('f', 'text');
    await here.ok('sign f --key rel');
    for (const line of ['transit verify rel f f.sig', 'transit verify rel f.sig f'])
      expect(await pasted(here, await here.refused(line, 2), {})).toEqual(['verify f --key rel']);
  });

  it('a tag with a value for a new workspace leads to the command that sets it', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('orgs create acme');
    const said = await here.refused('workspaces create red --tag prod tier=1 --org acme', 2);
    const [command = '', ...more] = await pasted(here, said, {});
    expect([more, command.match(/--org acme/g)]).toEqual([[], ['--org acme']]);
    expect(command).toContain('workspaces create red');
    expect(command).toContain('--tag prod --bind tier=1');
  });

  it('the text of a policy in the place of its file leads to the command that reads it', async () => {
    const here = await DirectoryHere.withStore();
    const text = 'path "x" { capabilities = ["read"] }';
    expect(await here.refused(['policy', 'write', 'p1', text], 2)).toContain(
      `(for the text itself, run: printf %s '${text}' | coffer policy write p1 -)`,
    );
    await here.ok('policy write p1 -', { input: text });
    expect(await here.refused(['policy', 'write', 'p1', `${text}\n`], 2)).toContain(
      'write the text to a file, and run "coffer policy write p1 FILE"',
    );
  });

  it('a slot that does not exist is answered with those that do, without a secret', async () => {
    const here = await DirectoryHere.withStore();
    const [, id = ''] = /([0-9a-f]{16})/.exec(await here.ok('slots list -o json')) ?? [];
    const locked = { environment: { COFFER_MASTER_KEY: undefined } };
    const said = `; the slots are ${id} (master key)`;
    for (const [line, exitCode] of [
      ['slots remove abc', 2],
      ['slots remove abc --yes', 4],
    ] as const)
      expect(await here.refused(line, exitCode, locked)).toContain(`no slot has the ID "abc"${said}`);
    for (const named of ['abc', '0123456789abcdef'])
      expect(await here.refused(`slots remove ${named} --yes`, 3)).toContain(
        `no slot "${named}" (see "coffer slots list"${said})`,
      );
    expect(await here.refused(`slots remove ${id} --yes`, 1)).not.toContain(said);
    const prompts = promptsDouble([], true);
    const asked = await here.run('slots remove abc', { ...locked, prompts, terminals: ['in', 'out', 'err'] });
    expect(asked.err).toMatch(
      /^No slot has the ID abc \(the slots are [0-9a-f]{16} \(master key\)\)\. Labels can/,
    );
  });

  it('an export that is refused whatever is to be exported does not ask what that is', async () => {
    const here = await DirectoryHere.withStore();
    expect(await here.refused('transit keys export app', 2)).toContain(
      'the key is not exportable (run "coffer transit keys config app --exportable" first',
    );
    await here.ok('transit keys create rel --type ed25519');
    await here.ok('transit keys create out --exportable');
    for (const name of ['rel', 'out'])
      expect(await here.refused(`transit keys export ${name}`, 2)).toContain('--key-type');
  });

  it('"self" in the place of a token leads to the command for the own one, on a server alone', async () => {
    const here = await DirectoryHere.withStore();
    expect(await here.refused('token lookup self', 4)).not.toContain('your own token');
    const { address, token } = await startServer();
    const environment = { COFFER_ADDR: address, COFFER_TOKEN: token };
    const said = await here.refused('token lookup self', 4, { environment });
    expect(await pasted(here, said, {}, { environment })).toEqual(['token lookup']);
  });

  it('a key type without its size says which it needs, and how it is given', async () => {
    const here = await DirectoryHere.withStore();
    expect(await here.refused('transit keys create h --type hmac', 2)).toBe(
      'coffer: --key-size: an HMAC key needs a valid size (use 32 to 512 bytes, e.g. --key-size 32)',
    );
    expect(await here.refused('transit keys create h --type hmac --key-size 4', 2)).toBe(
      'coffer: invalid --key-size 4 (use 32 to 512 bytes, e.g. --key-size 32)',
    );
    await here.ok('transit keys create h --type hmac --key-size 32');
  });

  it('what is wrong is named once, with what is valid', async () => {
    const here = await DirectoryHere.withStore();
    for (const line of ['auth enable approle', 'auth enable approle --path ci']) await here.ok(line);
    for (const at of ['', ' --path ci'])
      await here.ok(`auth approle write deploy --token-policies deploy --secret-id-num-uses 3${at}`);
    here.write('text', 'no PEM');
    await here.ok('transit keys create signer --type ed25519');
    expect(await here.refused('transit keys reinstate signer 1', 1)).toContain('nothing to reinstate)');
    for (const [line, said] of SAID_ONCE) expect(await here.refused(line, 2), line).toContain(said);
    const tidied = await here.run('auth approle tidy');
    expect(tidied.err).toBe(
      'coffer: warning: tidying has started; if there is anything to report, a server writes it to its log\n',
    );
  });

  it('workspaces after a tag, without their option, lead to the command with it', async () => {
    const here = await DirectoryHere.withStore();
    for (const line of [
      'orgs create acme',
      'workspaces create api web --org acme',
      'tags create old --org acme',
    ])
      await here.ok(line);
    for (const act of ['attach', 'detach']) {
      const said = await here.refused(`tags ${act} old api web --org acme`, 2);
      expect(await pasted(here, said, {})).toEqual([`tags ${act} old --workspace api web --org acme`]);
    }
    expect(await here.refused('tags attach old env:prod', 2)).toContain('e.g. "coffer tags attach env:prod');
  });

  it('a tag without a value leads from the search for key-value tags to its workspaces', async () => {
    const here = await DirectoryHere.withStore();
    for (const line of [
      'orgs create acme',
      'workspaces create web --org acme',
      'tags create env:p --org acme',
    ])
      await here.ok(line);
    const terminals = { terminals: ['out', 'err'] as const };
    const found = async (filter: string) =>
      (await here.run(`tags where ${filter} --org acme`, terminals)).err;
    expect((await found('env:p other')).replaceAll(/\s+/g, ' ')).toContain(
      'env:p is a tag without a value: to list its workspaces, run "coffer tags show env:p --org acme"',
    );
    for (const filter of ['env', 'env:p=x', '=env:p'])
      expect(await found(filter)).toBe('No key-value tags found.\n');
    await here.ok('workspaces bind web other=1 --org acme');
    expect(await found('env:p other')).not.toContain('without a value');
  });

  it('a tag that a workspace does not have is answered with a similar one that it has', async () => {
    const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    await here.ok('orgs create acme');
    await here.ok('workspaces create red --tag prod core');
    const terminals = { terminals: ['out', 'err'] as const };
    const { exitCode, err } = await here.run('workspaces untag red prdo', terminals);
    expect(exitCode).toBe(0);
    expect(err).toContain('the workspace has no tag "prdo"; did you mean "prod"?');
    expect((await here.run('workspaces untag red prod', terminals)).err).not.toContain('did you mean');
  });
});

describe('a secret', () => {
  const terminal = { terminals: ['in', 'err'] as const };

  it('is asked for only if the file can have it', async () => {
    const here = await DirectoryHere.withStore();
    here.write('.env', 'A=secret\n');
    await here.ok('secrets encrypt .env --key app');
    const other = {
      COFFER_STORE: here.file('.other'),
      COFFER_MASTER_KEY: Buffer.alloc(32, 8).toString('hex'),
    };
    const set = (environment: Record<string, string>, prompts = promptsDouble([], true)) =>
      here.run('secrets set .env B', { ...terminal, environment, prompts });
    expect(await set(other)).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining('there is no store'),
    });
    await here.ok('init', { environment: other });
    await here.ok('transit keys create app', { environment: other });
    const before = here.read('.env');
    expect(await set(other)).toMatchObject({ exitCode: 4, err: expect.stringContaining('cannot decrypt') });
    expect(here.read('.env')).toBe(before);
    expect(await set({}, promptsDouble(['word'], true))).toMatchObject({ exitCode: 0 });
    expect(await here.ok('secrets get .env B')).toBe('word');
  });
});
