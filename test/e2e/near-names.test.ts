import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';
import { binary, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { filledPlace, typedAt } from './typed.ts';

/* Names and values that are nearly existing ones. */

let bare: Place;
let here: Place;
beforeAll(async () => {
  ({ bare, here } = await filledPlace(
    [
      'transit keys create orders',
      'orgs create acme',
      'workspaces create billing-prod',
      'tags create env:prod',
      'mounts add teams/payments',
      'auth enable approle',
      'auth approle write deploy',
      'token roles write release',
    ],
    { COFFER_ORG: 'acme' },
  ));
});
afterAll(() => removePlace(bare));

/** Runs a command as if typed at a terminal, in this process. */
const typed = (place: Place, line: string, answers: readonly boolean[] = []) =>
  typedAt(place, line, { answers });

describe('a name that does not exist', () => {
  it.each([
    ['transit keys read order', 3, 'coffer: key "order" not found (did you mean "orders"?)'],
    [
      'transit keys create new --type ed22519',
      2,
      'coffer: --type: unknown key type ed22519 (did you mean "ed25519"?)',
    ],
    [
      'transit keys create new --type rsa',
      2,
      'coffer: --type: unknown key type rsa (did you mean "rsa-2048", "rsa-3072" or "rsa-4096"?)',
    ],
    ['transit keys public ordres', 3, 'coffer: key "ordres" not found (did you mean "orders"?)'],
    ['tags show env:prd', 3, 'coffer: tag "env:prd" not found (did you mean "env:prod"?)'],
    [
      'tags attach env:prd --workspace billing-prod',
      3,
      'coffer: tag "env:prd" not found (did you mean "env:prod"?)',
    ],
    [
      'tags attach env:prod --workspace biling-prod',
      3,
      'coffer: workspace "biling-prod" not found (did you mean "billing-prod"?)',
    ],
    ['orgs show acem', 3, 'coffer: organization "acem" not found (did you mean "acme"?)'],
    ['workspaces list --org acem', 3, 'coffer: organization "acem" not found (did you mean "acme"?)'],
    ['policy read defualt', 3, 'coffer: no policy named: defualt (did you mean "default"?)'],
    ['auth approle read depoly', 3, 'coffer: no role depoly (did you mean "deploy"?)'],
    ['token roles read relaese', 3, 'coffer: no token role "relaese" (did you mean "release"?)'],
    ['token create-by-role relase', 2, 'coffer: ROLE: unknown role relase (did you mean "release"?)'],
  ])('brings up the one that was meant: %s', async (line, exitCode, said) => {
    expect(await here.refused(line, exitCode)).toBe(said);
  });

  it('brings up a mount and a login method', async () => {
    expect(await here.refused('transit keys list --mount team/payments', 3)).toBe(
      'coffer: no mount "team/payments" (did you mean "teams/payments"?)',
    );
    expect(await here.refused('transit keys list --mount nowhere', 3)).toBe(
      'coffer: no mount "nowhere" (list the mounts with "coffer mounts list")',
    );
    expect(await here.refused('auth tune aprole', 2)).toContain('(did you mean "approle"?)');
  });

  it('brings up nothing that is only similar', async () => {
    expect(await here.refused('transit keys read invoices', 3)).not.toContain('did you mean');
    expect(await here.refused('workspaces show billing-dev', 3)).not.toContain('did you mean');
  });

  it('is found among more names than one page of a list has', async () => {
    const many = Array.from({ length: 120 }, (_, index) => `aa-${index}`);
    await here.ok(['tags', 'create', ...many, 'zz-last-one']);
    expect(await here.refused('tags show zz-last-oen', 3)).toContain('did you mean "zz-last-one"?');
  });
});

describe('a missing name', () => {
  const NAME = "coffer: missing required argument 'NAME' (";
  const oneLine = (text: string): string => text.replaceAll('\n', ' ');
  const plain = () => here.with({ NO_COLOR: '1' });

  it.each([
    ['transit keys read', `${NAME}keys: orders; usage: coffer transit keys read NAME`],
    ['transit encrypt', `${NAME}keys: orders; usage:`],
    ['policy read', `${NAME}policies: default, root; usage:`],
    ['token roles delete', '(token roles: release; usage:'],
    ['auth approle read', '(roles: deploy; usage:'],
    ['orgs show', '(organizations: acme; usage:'],
    ['workspaces tag', '(workspaces: billing-prod; usage:'],
    ['mounts remove', '(mounts: teams/payments, transit; usage:'],
    ['auth disable', '(login methods: approle, token; usage:'],
  ])('is answered with those that there are, to a person: %s', async (line, said) => {
    const { exitCode, stderr } = await typed(plain(), line);
    expect(exitCode).toBe(2);
    expect(stderr.replace(/\s+/g, ' ')).toContain(said);
    expect(await here.refused(line, 2)).toContain('(usage:');
  });

  it('is answered with the first names of a long list, and how many more there are', async () => {
    const { stderr } = await typed(plain(), 'tags delete');
    expect(oneLine(stderr)).toMatch(/\(tags: aa-0, aa-1, \S+, \S+, \S+, \S+ and 11\d more; usage:/);
  });

  it.each([
    ['a new name', 'transit keys create', {}],
    ['a new mount', 'mounts add', {}],
    ['a locked store', 'transit keys read', { COFFER_MASTER_KEY: undefined }],
    ['a passphrase', 'transit keys read', { COFFER_MASTER_KEY: undefined, COFFER_PASSPHRASE: 'any' }],
    [
      'a command for the secret',
      'transit keys read',
      { COFFER_MASTER_KEY: undefined, COFFER_MASTER_KEY_COMMAND: 'touch was-run' },
    ],
    ['no store', 'transit keys read', { COFFER_STORE: '/nowhere' }],
    ['no organization', 'tags delete', { COFFER_ORG: undefined }],
  ])(
    'is answered with the usage alone, if the names would be of no use or cost something: %s',
    async (_, line, environment) => {
      const { exitCode, stderr, asked } = await typed(plain().with(environment), line);
      expect([exitCode, asked]).toEqual([2, []]);
      expect(oneLine(stderr)).toMatch(/^coffer: missing required argument '\w+' \(usage:/);
      expect(existsSync(bare.file('was-run'))).toBe(false);
    },
  );
});

describe('a command on tags', () => {
  it('names all tags that do not exist, with the command that creates them', async () => {
    expect(await here.refused('tags attach x1 env:prod x2 --workspace billing-prod', 3)).toBe(
      'coffer: tags "x1", "x2" not found (create them first with "coffer tags create x1 x2 --org acme")',
    );
  });

  it('uses the only organization of the store if none is named, and asks for one if there are several', async () => {
    const nowhere = here.with({ COFFER_ORG: '' });
    const said =
      'coffer: missing required value --org (use --org NAME or set COFFER_ORG; "coffer orgs list" lists them, "coffer orgs create NAME" creates one)';
    for (const line of [
      'workspaces list',
      'tags list',
      'tags show env:prod',
      'tags prune --unused --dry-run',
    ])
      expect(await nowhere.run(line)).toEqual(await here.run(line));
    await nowhere.ok('tags attach env:prod --workspace billing-prod');
    await nowhere.ok('tags detach env:prod --workspace billing-prod');
    expect(await nowhere.refused('workspaces show nowhere', 3)).toContain('workspace "nowhere" not found');
    await here.ok('orgs create globex');
    expect(await nowhere.refused('workspaces list', 2)).toBe(said);
    expect(await nowhere.refused('tags prune --unused --yes', 2)).toBe(said);
    const { stderr } = await typed(nowhere, 'tags detach env:prod --workspace billing-prod');
    expect(stderr.replace(/\s+/g, ' ')).toContain(
      'no organization given for "env:prod" (organizations: acme, globex; use --org NAME or set COFFER_ORG, or an ID instead of the name; "coffer orgs list" lists the organizations)',
    );
    await here.ok('orgs delete globex --yes');
  });

  it('reads a secret once that can be read once, where the only organization has to be listed', async () => {
    const script = 'COFFER_MASTER_KEY_FILE=<(printf %s "$SECRET") coffer workspaces list';
    const environment = { COFFER_ORG: '', COFFER_MASTER_KEY: undefined, SECRET: MASTER_KEY };
    expect(await here.shell(script, { environment })).toMatchObject({
      exitCode: 0,
      stdout: 'billing-prod\n',
      stderr: '',
    });
  });

  it('takes no organization of the server that tags are imported from for that of the store', async () => {
    const server = createServer(({ url = '' }, answer) => {
      const organizations = [{ id: 'other', type: 'organizations', attributes: { name: 'other' } }];
      answer.setHeader('content-type', 'application/json');
      answer.end(
        JSON.stringify({
          data: url.includes('capabilities') ? { capabilities: ['root'] } : organizations,
        }),
      );
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const nowhere = here.with({ COFFER_ORG: '', COFFER_TOKEN: 'none', COFFER_STORE: undefined });
    const line = `tags import --from tfe --address http://127.0.0.1:${port}`;
    const { exitCode, stderr } = await typed(nowhere, line).finally(() => server.close());
    expect({ exitCode, stderr: stderr.replace(/\s+/g, ' ') }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('missing required value --org'),
    });
  });

  it('names the workspaces that are missing in words that can be read', async () => {
    expect(await here.refused('tags attach env:prod', 2)).toContain(
      '--workspace (use --workspace WS... ("coffer workspaces list" lists them) or --key NAME..., e.g. ',
    );
  });

  it('says what a rename did, how tags are merged, and that merging is final', async () => {
    for (const line of ['tags create old-name taken', 'tags attach old-name --workspace billing-prod'])
      await here.ok(line);
    expect(await here.refused('tags rename old-name taken', 6)).toContain(
      'a tag "taken" already exists: use --merge to merge the two tags',
    );
    expect((await typed(here, 'tags rename old-name new-name')).stderr).toBe(
      'Renamed old-name to new-name, which is now on 1 workspace.\n',
    );
    const merging = 'tags rename new-name taken --merge';
    const question =
      'Merge new-name into taken? 1 workspace with new-name gets taken, and new-name is deleted. Keys with new-name get taken, too. This cannot be undone; keep a copy first with "coffer tags export". That has no tags of keys; "coffer store backup FILE" on a local store has everything.';
    expect(await typed(here, merging, [false])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'No changes made.\n',
      asked: [question],
    });
    expect(await typed(here, merging, [true])).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'Merged new-name into taken, which is now on 1 workspace. This cannot be undone.\n',
      asked: [question],
    });
  });

  it('asks nothing before a merge in scripts and with --yes, nor where nothing is merged', async () => {
    await here.ok('tags create one-more other-more');
    expect(await here.run('tags rename one-more other-more --merge')).toMatchObject({ exitCode: 0 });
    await here.ok('tags create one-more');
    expect((await typed(here, 'tags rename one-more other-more --merge --yes')).asked).toEqual([]);
    expect(await typed(here, 'tags rename other-more fresh-more --merge')).toMatchObject({
      exitCode: 0,
      asked: [],
    });
    expect(await typed(here, 'tags rename gone-more fresh-more --merge')).toMatchObject({
      exitCode: 3,
      asked: [],
    });
  });
});

describe('a key and a value in the wrong order', () => {
  it('are told apart by a ciphertext', async () => {
    expect(await here.refused('transit decrypt service:v1:AAAA', 2)).toContain(
      'NAME: invalid value "service:v1:AAAA" (give the name of the key before the value)',
    );
  });

  it('bring up the command with the right order', async () => {
    expect(await here.refused('transit decrypt service:v1:AAAA orders', 2)).toContain(
      '(give the name of the key before the value: run "coffer transit decrypt orders service:v1:AAAA")',
    );
  });

  it('bring up the key before one is created that has the value for a name', async () => {
    const { asked, exitCode } = await typed(here, 'transit encrypt 4242 orders', [false]);
    expect(asked).toEqual(['Create key 4242? It does not exist; did you mean "orders"?']);
    expect(exitCode).toBe(1);
    await here.refused('transit keys read 4242', 3);
  });
});

describe('a value that an option does not know', () => {
  it.each([
    ['transit keys create k --type rsa4096', '--type: unknown key type rsa4096 (did you mean "rsa-4096"?)'],
    ['transit keys create k --type ed2551', '--type: unknown key type ed2551 (did you mean "ed25519"?)'],
    ['transit hmac orders x --algorithm sha2256', '(did you mean "sha2-256"?)'],
    ['transit keys list -o jsn', '--output: invalid value "jsn" (did you mean "json"?)'],
    ['auth enable useprass', '(did you mean "userpass"?)'],
  ])('brings up the one that was meant: %s', async (line, said) => {
    expect(await here.refused(line, 2)).toContain(said);
  });

  it('is told what there is, if nothing is near', async () => {
    expect(await here.refused('transit keys create k --type blowfish', 2)).toContain(
      'use one of aes128-gcm96',
    );
  });
});

describe('a key that "transit encrypt" would create', () => {
  it('is asked about on a terminal, if the name of another is near', async () => {
    const refused = await typed(here, 'transit encrypt order hello', [false]);
    expect(refused.exitCode).toBe(1);
    expect(refused.asked).toEqual(['Create key order? It does not exist; did you mean "orders"?']);
    expect(refused.stderr).toContain('No changes made.');
    expect(await here.ok('transit keys list')).not.toMatch(/^order$/m);
  });

  it('is created without a question if nothing is near, off a terminal, and with --yes', async () => {
    expect((await typed(here, 'transit encrypt unlike-any-other hello')).asked).toEqual([]);
    expect((await here.run('transit encrypt orde hello')).exitCode).toBe(0);
    expect((await typed(here, 'transit encrypt rders hello --yes')).exitCode).toBe(0);
  });
});

describe('a mistyped name on a server', () => {
  let running: ServerProcess;
  let owner: Place;
  const trail = () =>
    readFileSync(bare.file('trail'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { request?: { path?: string }; error?: string });

  async function tokenWith(rules: string): Promise<Place> {
    await here.ok('policy write limited -', { input: rules });
    const token = await here.ok('token create --policy limited');
    return bare.with({ COFFER_STORE: undefined, COFFER_ADDR: running.address, COFFER_TOKEN: token });
  }

  beforeAll(async () => {
    running = await startServerProcess(
      [binary, 'serve', '--listen', '127.0.0.1:0', '-q', '--audit-log', 'trail'],
      { directory: here.directory, environment: here.environment() },
    );
    owner = bare.with({
      COFFER_STORE: undefined,
      COFFER_ADDR: running.address,
      COFFER_TOKEN: await here.ok('token create --policy root'),
    });
  });
  afterAll(() => running.stop());

  it('brings up the one that was meant, to a person with a token that may list', async () => {
    expect((await typed(owner, 'transit keys read ordesr')).stderr).toContain('did you mean "orders"?');
    expect(await owner.refused('transit keys read ordesr', 3)).not.toContain('did you mean');
  });

  it('is answered if it is missing with the names that the token may list, and otherwise with none', async () => {
    expect((await typed(owner, 'transit keys read')).stderr).toContain('(keys: ');
    const place = await tokenWith('path "transit/keys/ordesr" { capabilities = ["read"] }');
    const before = trail().length;
    expect((await typed(place, 'transit keys read')).stderr).toContain("argument 'NAME' (usage:");
    expect(
      trail()
        .slice(before)
        .filter(({ error }) => error),
    ).toEqual([]);
    const gone = owner.with({ COFFER_ADDR: 'http://127.0.0.1:1' });
    expect((await typed(gone, 'transit keys read')).stderr).toContain("argument 'NAME' (usage:");
  });

  it('is distinguished from a path with other methods, which are named', async () => {
    expect(await owner.refused('read transit/decrypt/orders', 2)).toBe(
      'coffer: unsupported operation (try another of read, write, list and delete)',
    );
  });

  it('brings up nothing that the token may not list, and leaves no denied list in the audit log', async () => {
    const place = await tokenWith('path "transit/keys/ordesr" { capabilities = ["read"] }');
    const before = trail().length;
    const { stderr } = await typed(place, 'transit keys read ordesr');
    expect(stderr).toContain('key "ordesr" not found');
    expect(stderr).not.toContain('did you mean');
    const paths = trail()
      .slice(before)
      .map(({ request }) => request?.path);
    expect(paths).toContain('transit/keys/ordesr');
    expect(paths).not.toContain('transit/keys');
  });

  it('of a key that may only be used to encrypt leaves no denied read in the audit log', async () => {
    const place = await tokenWith('path "transit/encrypt/orders" { capabilities = ["update"] }');
    const before = trail().length;
    expect((await typed(place, 'transit encrypt orders hello')).exitCode).toBe(0);
    const since = trail().slice(before);
    expect(since.length).toBeGreaterThan(0);
    expect(since.filter(({ error }) => error)).toEqual([]);
    expect(since.map(({ request }) => request?.path)).not.toContain('transit/keys/orders');
  });
});
