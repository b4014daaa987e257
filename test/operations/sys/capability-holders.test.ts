import { beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/command-line.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { openCore } from '../../../src/operations/core.ts';
import { type Runner, resultOf } from '../../../src/operations/declaration/operation.ts';
import { ownerRunner } from '../../../src/operations/runner.ts';
import { streamsDouble } from '../../cli/streams.double.ts';
import { seeded } from '../../seeded.ts';
import { cleanUpAfterAll, issueToken, send, setPolicy, startServer } from '../../servers/serving.ts';
import { memoryStore } from '../../store/memory-store.ts';

interface Holders {
  readonly policies: readonly string[];
  readonly logins: readonly object[];
  readonly token_roles: readonly object[];
  readonly tokens: readonly { readonly accessor: string; readonly policies: readonly string[] }[];
}

async function emptyRunner(): Promise<Runner> {
  const store = await memoryStore();
  return ownerRunner(openCore(store, { random: systemRandom }));
}

const holders = async (runner: Runner, capability: string, path: string): Promise<Holders> =>
  resultOf(await runner.run('sys capabilities-holders', { capability, path })) as Holders;

const rule = (path: string, ...capabilities: string[]): string =>
  `path "${path}" { capabilities = ${JSON.stringify(capabilities)} }`;

describe('the holders of a capability', () => {
  let runner: Runner;
  const at = (method: string): string => `auth/${method}`;

  beforeAll(async () => {
    runner = await emptyRunner();
    const policies = {
      opens: rule('transit/decrypt/orders', 'update'),
      all: rule('transit/*', 'create', 'read', 'update'),
      closed: rule('transit/decrypt/orders', 'deny'),
      other: rule('transit/encrypt/orders', 'update'),
    };
    for (const [name, policy] of Object.entries(policies)) await runner.run('policy write', { name, policy });
    for (const path of ['userpass', 'approle']) await runner.run('auth enable', { path, type: path });
    await runner.run('auth enable', { path: 'ci', type: 'kubernetes' });
    const user = (name: string, ...token_policies: string[]) =>
      runner.run('auth userpass write', { name, password: 'x', token_policies }, at('userpass'));
    await user('ada', 'opens');
    await user('bob', 'other');
    await user('eve', 'opens', 'closed');
    await user('root-user', 'root');
    await runner.run('auth approle write', { role_name: 'deploy', token_policies: ['all'] }, at('approle'));
    await runner.run(
      'auth jwt write',
      {
        name: 'pods',
        role_type: 'jwt',
        user_claim: 'sub',
        bound_subject: 'x',
        token_policies: ['all', 'other'],
      },
      at('ci'),
    );
    await runner.run('token roles write', { name: 'opening', allowed_policies: ['opens', 'other'] });
    await runner.run('token roles write', { name: 'harmless', allowed_policies: ['other'] });
    await runner.run('token roles write', { name: 'of-creator' });
    await runner.run('token roles write', { name: 'globbed', allowed_policies_glob: ['a*'] });
  });

  it('are the policies that grant it, and the logins and token roles that give it', async () => {
    const found = await holders(runner, 'update', 'transit/decrypt/orders');
    expect(found.policies).toEqual(['all', 'opens', 'root']);
    expect(found.logins).toEqual([
      { mount: 'auth/approle/', type: 'approle', name: 'deploy', policies: ['all'] },
      { mount: 'auth/ci/', type: 'kubernetes', name: 'pods', policies: ['all'] },
      { mount: 'auth/userpass/', type: 'userpass', name: 'ada', policies: ['opens'] },
    ]);
    expect(found.token_roles).toEqual([
      { name: 'globbed', policies: ['all'] },
      { name: 'opening', policies: ['opens'] },
    ]);
    expect(found.tokens).toEqual([]);
  });

  it('are everybody with the policy default, for what that grants', async () => {
    const found = await holders(runner, 'update', 'auth/token/renew-self');
    expect(found.policies).toEqual(['default', 'root']);
    expect(found.logins).toHaveLength(5);
  });

  it('are tokens for which the same answer is given one by one, whatever the policies', async () => {
    const chance = seeded();
    const random = await emptyRunner();
    const paths = ['a', 'a/b', 'a/c', 'b'];
    const patterns = [...paths, 'a/*', '+/b', '*', 'a/+', 'a*'];
    const words = ['create', 'read', 'update', 'delete', 'list', 'sudo', 'deny'];
    const some = <T>(items: readonly T[], most: number): T[] =>
      Array.from({ length: 1 + chance.below(most) }, () => chance.pick(items));
    const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
    for (const name of names) {
      const policy = some(patterns, 3).map((pattern) => rule(pattern, ...some(words, 3)));
      await random
        .run('policy write', { name, policy: [...new Set(policy)].join('\n') })
        .catch(() => undefined);
    }
    for (let index = 0; index < 40; index++) {
      await random.run('token create', {
        policies: some(names, 3),
        no_default_policy: chance.below(2) === 0,
      });
    }
    const { keys } = resultOf(await random.run('token list', {})) as { keys: readonly string[] };
    expect(keys).toHaveLength(40);
    let held = 0;
    for (const path of paths) {
      for (const capability of words.slice(0, -1)) {
        const found = (await holders(random, capability, path)).tokens.map(({ accessor }) => accessor);
        held += found.length;
        for (const accessor of keys) {
          const { data } = await random.run('sys capabilities-accessor', { accessor, paths: [path] });
          const granted = (data as { capabilities: readonly string[] }).capabilities.includes(capability);
          expect([accessor, path, capability, found.includes(accessor)]).toEqual([
            accessor,
            path,
            capability,
            granted,
          ]);
        }
      }
    }
    expect(held).toBeGreaterThan(0);
  });
});

describe('coffer policy who', () => {
  const cleaning = cleanUpAfterAll();
  let address = '';
  let token = '';
  let limited = '';

  beforeAll(async () => {
    const server = await startServer({}, cleaning);
    ({ address, token } = server);
    await setPolicy(server.directory, 'opens', rule('transit/decrypt/orders', 'update'));
    await setPolicy(server.directory, 'asks', rule('sys/capabilities-holders', 'update'));
    await issueToken(server.directory, { policies: ['opens'], display_name: 'ada', ttl: '1h' });
    limited = await issueToken(server.directory, { policies: ['asks'] });
  });

  async function said(words: readonly string[], by = token) {
    const streams = streamsDouble();
    const exitCode = await runCommandLine(['policy', 'who', ...words], streams, {
      COFFER_ADDR: address,
      COFFER_TOKEN: by,
    });
    const rows = streams.written.out
      .split('\n')
      .filter(Boolean)
      .map((row) => row.split('\t'));
    return { exitCode, rows, err: streams.written.err };
  }

  it.each([[['update', 'transit/decrypt/orders']], [['--key', 'orders', '--operation', 'decrypt']]])(
    'lists policies and tokens, by a path or by a key: %j',
    async (words) => {
      const { exitCode, rows } = await said(words);
      expect(exitCode).toBe(0);
      // Of one second, tokens are in the order of their accessors.
      expect(rows.toSorted((one, other) => `${one[2]}`.localeCompare(`${other[2]}`))).toEqual([
        ['policy', 'opens', '', '', ''],
        ['policy', 'root', '', '', ''],
        ['token', expect.any(String), 'opens', 'token-ada', expect.stringMatching(/^20.*Z$/)],
        ['token', expect.any(String), 'root', 'token', 'never'],
      ]);
    },
  );

  it('takes the words of commands for operations on keys', async () => {
    const json = await said(['--key', 'orders', '--operation', 'keys delete', '-o', 'json']);
    expect(JSON.parse(json.rows[0]?.[0] ?? '')).toMatchObject({
      capability: 'delete',
      path: 'transit/keys/orders',
      policies: ['root'],
    });
    expect(await said(['--key', 'orders', '--operation', 'decrypt', '--mount', 'team/x'])).toMatchObject({
      exitCode: 0,
      rows: [['policy', 'root', '', '', ''], expect.anything()],
    });
  });

  it.each([
    [[], 'give either CAPABILITY and PATH, or --key and --operation'],
    [['update'], 'give either CAPABILITY and PATH'],
    [['update', 'x', '--key', 'orders'], 'give either CAPABILITY and PATH'],
    [['--key', 'orders'], 'give either CAPABILITY and PATH'],
    [['--key', 'orders', '--operation', 'decrpyt'], 'unknown operation "decrpyt" (did you mean "decrypt"?)'],
    [['--key', 'orders', '--operation', 'datakey'], 'depends on more than the key'],
    [['updat', 'x'], '(did you mean "update"?)'],
  ])('refuses what cannot be asked: %j', async (words, message) => {
    expect(await said(words)).toMatchObject({ exitCode: 2, err: expect.stringContaining(message) });
  });

  it('needs sudo, as the list of tokens does', async () => {
    expect(await said(['update', 'transit/decrypt/orders'], limited)).toMatchObject({
      exitCode: 4,
      rows: [],
    });
    const body = { path: 'transit/decrypt/orders', capability: 'update' };
    const refused = await send(address, 'POST', '/v1/sys/capabilities-holders', { token: limited, body });
    expect(refused.status).toBe(403);
    const answered = await send(address, 'POST', '/v1/sys/capabilities-holders', { token, body });
    expect(answered.json.data.policies).toEqual(['opens', 'root']);
  });
});
