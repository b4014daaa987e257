import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { listedKind, NameList } from '../../src/cli/listed-names.ts';
import { openCore } from '../../src/operations/core.ts';
import type { Runner } from '../../src/operations/declaration/operation.ts';
import { RESOURCE_KINDS } from '../../src/operations/declaration/resource-kinds.ts';
import { ownerRunner } from '../../src/operations/runner.ts';
import { streamsDouble } from '../cli/streams.double.ts';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';
import { memoryStore } from '../store/memory-store.ts';
import { binary, type Place, removePlace } from './harness.ts';
import { filledPlace, typedAt } from './typed.ts';

/* Keys and tags that a command creates because nothing has their name. */

let bare: Place;
let here: Place;
beforeAll(async () => {
  ({ bare, here } = await filledPlace(
    [
      'transit keys create orders',
      'orgs create acme',
      'workspaces create billing-prod',
      'tags create env:prod',
    ],
    { COFFER_ORG: 'acme' },
  ));
});
afterAll(() => removePlace(bare));

/** Each way in which a command creates a name that does not exist, with the name that was meant. */
const CREATING: readonly (readonly [line: string, kind: 'key' | 'tag', name: string, meant: string])[] = [
  ['transit encrypt ordrs hello', 'key', 'ordrs', 'orders'],
  ['transit encrypt ordars hello -o json', 'key', 'ordars', 'orders'],
  ['transit encrypt orderd --batch -', 'key', 'orderd', 'orders'],
  ['transit encrypt zzz-fresh-zzz hello', 'key', 'zzz-fresh-zzz', ''],
  ['write transit/encrypt/ordeers plaintext=aGk=', 'key', 'ordeers', 'orders'],
  ['workspaces tag billing-prod env:prdo', 'tag', 'env:prdo', 'env:prod'],
  ['transit keys tag orders env:pord', 'tag', 'env:pord', 'env:prod'],
];

describe('a name that a script creates without knowing', () => {
  it.each(CREATING)('is said on standard error, once: %s', async (line, kind, name, meant) => {
    const input = '{"plaintext":"aGk="}\n{"plaintext":"aGk="}';
    const first = await here.run(line, { input });
    const question = meant === '' ? '.' : `; did you mean "${meant}"?`;
    expect(first.stderr).toBe(`Created ${kind} ${name}, which did not exist${question}\n`);
    expect(first.exitCode).toBe(0);
    expect(first.stdout).not.toContain('Created');
    expect((await here.run(line, { input })).stderr).not.toContain('did not exist');
    const remove = { key: `delete transit/keys/${name}`, tag: `tags delete ${name}` }[kind];
    if (kind === 'key') await here.ok(`transit keys config ${name} --deletion-allowed`);
    await here.ok(`${remove} --yes`);
    expect((await here.run(`${line} --quiet`, { input })).stderr).not.toContain('Created');
    if (kind === 'key') await here.ok(`transit keys config ${name} --deletion-allowed`);
    await here.ok(`${remove} --yes`);
  });
});

describe('a key and a value that were exchanged', () => {
  const HINT =
    'coffer: "orders" is a key, and the word before it is not: the key comes first (run "coffer transit encrypt orders ' +
    'VALUE"; to use the text "orders" with a new key, run "coffer transit keys create NAME" first)';

  it.each(['', ' --quiet', ' --yes', ' -o json'])(
    'are refused without repeating the value, and nothing is created, where no question is asked:%s',
    async (options) => {
      const keys = await here.ok('transit keys list');
      expect(await here.refused(`transit encrypt hunter2 orders${options}`, 2)).toBe(HINT);
      expect(await here.ok('transit keys list')).toBe(keys);
    },
  );

  it('are refused on a terminal that is not asked because of --yes', async () => {
    const typed = await typedAt(here, 'transit encrypt hunter2 orders --yes', { columns: 300 });
    expect(typed).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(HINT.slice(8)) });
  });

  it('are refused where standard input alone is a terminal, or alone is none', async () => {
    const streams: readonly (readonly ['out' | 'err', ...('out' | 'err')[]])[] = [
      ['out'],
      ['err'],
      ['out', 'err'],
    ];
    for (const terminals of streams)
      expect(await typedAt(here, 'transit encrypt hunter2 orders', { terminals })).toMatchObject({
        exitCode: 2,
      });
  });

  it('are asked about on a terminal', async () => {
    const { asked, exitCode } = await typedAt(here, 'transit encrypt hunter2 orders', { answers: [false] });
    expect({ asked, exitCode }).toEqual({
      asked: ['Create key hunter2? It does not exist; did you mean "orders"?'],
      exitCode: 1,
    });
  });

  it('are only suspected if the value is a key: other texts, and a key as the text of a key, are encrypted', async () => {
    for (const line of ['transit encrypt orders orders', 'transit encrypt orders hunter2'])
      expect(await here.ok(line)).toMatch(/^service:v1:/);
    const { stderr } = await here.run('transit encrypt fresh --in -', { input: 'orders' });
    expect(stderr).toContain('Created key fresh');
    await here.ok('transit keys config fresh --deletion-allowed');
    await here.ok('transit keys delete fresh --yes');
  });
});

describe('a created key', () => {
  it.each([
    'transit encrypt first-of-all hello',
    'transit encrypt first-of-all --batch -',
    'write transit/encrypt/first-of-all plaintext=aGk=',
    'write transit/encrypt/first-of-all plaintext=aGk= --format json',
  ])('is said after the result: %s', async (line) => {
    const written: string[] = [];
    const streams = streamsDouble({ input: '{"plaintext":"aGk="}' });
    const noting = (name: 'out' | 'err') => ({
      ...streams[name],
      write: () => void written.push(name),
      writeLater: async () => void written.push(name),
    });
    const noted = { in: streams.in, out: noting('out'), err: noting('err') };
    expect(await runCommandLine(line.split(' '), noted, here.environment())).toBe(0);
    expect(written).toEqual(['out', 'err']);
    await here.ok('transit keys config first-of-all --deletion-allowed');
    await here.ok('transit keys delete first-of-all --yes');
  });

  it('is compared with a bounded number of names', async () => {
    const { run, ...rest } = ownerRunner(openCore(await memoryStore()));
    const raws: unknown[] = [];
    const noting: Runner = {
      ...rest,
      run(operation, raw, at) {
        raws.push(raw);
        return run(operation, raw, at);
      },
    };
    const kind = await listedKind(RESOURCE_KINDS.key);
    for (const name of ['orders', 'payments']) await run('transit keys create', { name });
    expect(await new NameList(noting, kind, 2).near('ordrs')).toEqual(['orders', 'payments']);
    await run('transit keys create', { name: 'users' });
    expect(await new NameList(noting, kind, 2).near('ordrs')).toEqual([]);
    expect(raws).toEqual([{ limit: 3 }, { limit: 3 }]);
    expect(await new NameList(noting, kind).near('ordrs')).toHaveLength(3);
  });
});

describe('a name that is created on a server', () => {
  let running: ServerProcess;
  let owner: Place;
  const trail = () =>
    readFileSync(bare.file('trail'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { request?: { path?: string } });

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
    await owner.ok('transit keys list');
  });
  afterAll(() => running.stop());

  it.each([
    ['transit encrypt ordrs hello', 'transit/encrypt/ordrs'],
    ['transit encrypt orderd --batch -', 'transit/encrypt/orderd'],
    ['write transit/encrypt/ordeers plaintext=aGk=', 'transit/encrypt/ordeers'],
  ])('takes a script no request but its own, nor a command with --quiet: %s', async (line, path) => {
    const name = path.split('/').at(-1);
    const requestsOf = async <T>(run: () => Promise<T>) => {
      const before = trail().length;
      const result = await run();
      const paths = trail()
        .slice(before)
        .map(({ request }) => request?.path);
      return { paths: [...new Set(paths)], result };
    };
    const input = '{"plaintext":"aGk="}';
    const scripted = await requestsOf(() => owner.run(line, { input }));
    expect(scripted.paths).toEqual([path]);
    expect(scripted.result.stderr).toBe(`Created key ${name}, which did not exist.\n`);
    await here.ok(`transit keys config ${name} --deletion-allowed`);
    await here.ok(`transit keys delete ${name} --yes`);
    if (line.includes('--batch')) return;
    const quiet = await requestsOf(() => typedAt(owner, `${line} --quiet`));
    expect(quiet.paths).toContain(path);
    expect(quiet.paths).not.toContain('transit/keys');
    await here.ok(`transit keys config ${name} --deletion-allowed`);
    await here.ok(`transit keys delete ${name} --yes`);
  });
});
