import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Suite } from './index.ts';

export const tagJobsSuite: Suite = (here) => {
  const environment = { COFFER_ORG: 'shop' };
  const ok = (line: string) => here().ok(line, { environment });
  const run = (line: string) => here().run(line, { environment });
  const tagsOf = async (workspace: string): Promise<string> =>
    (await ok(`tags of ${workspace}`)).split('\n').join(' ');
  const file = (name: string, text: string): string => {
    writeFileSync(here().file(name), text);
    return name;
  };
  const attributes = async (line: string): Promise<Record<string, unknown>> =>
    JSON.parse(await ok(`${line} -o json`)).data.attributes;

  const START = `workspace,tag
,unused
billing-dev,env:dev
billing-prod,env:prod
billing-prod,team:core
web-prod,env:prod
web-prod,team:shop
plain,
`;

  beforeAll(async () => {
    await ok('orgs create shop');
    await ok(`tags import ${file('start.csv', START)}`);
  });

  it('imports what a file says, and finds nothing to do the second time', async () => {
    expect((await ok('workspaces list')).split('\n')).toEqual([
      'billing-dev',
      'billing-prod',
      'plain',
      'web-prod',
    ]);
    expect(await tagsOf('billing-prod')).toBe('env:prod team:core');
    expect((await attributes('tags show unused'))['instance-count']).toBe(0);
    const { exitCode, stderr } = await run('tags import start.csv');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'No changes needed.\n' });
  });

  it('exports what it imported, in every format, and as it was', async () => {
    await ok('tags export --out all.csv');
    expect(readFileSync(here().file('all.csv'), 'utf8')).toBe(
      'workspace,tag\n,env:dev\n,env:prod\n,team:core\n,team:shop\n,unused\nbilling-dev,env:dev\n' +
        'billing-prod,env:prod\nbilling-prod,team:core\nplain,\nweb-prod,env:prod\nweb-prod,team:shop\n',
    );
    for (const format of ['yaml', 'json', 'csv']) {
      await ok(`tags export --out again.${format}`);
      expect((await run(`tags import again.${format}`)).stderr).toBe('No changes needed.\n');
    }
    expect(JSON.parse(await ok('tags export -o json'))).toEqual(
      JSON.parse(await ok('tags export --format json')),
    );
  });

  it('shows where a tag is used', async () => {
    const { data, included } = JSON.parse(await ok('tags show env:prod -o json'));
    expect(data.attributes).toMatchObject({ name: 'env:prod', 'instance-count': 2 });
    const names = included.map((workspace: { attributes: { name: string } }) => workspace.attributes.name);
    expect(names).toEqual(['billing-prod', 'web-prod']);
    expect(await ok('tags show env:prod -o table')).toContain('On 2 workspaces: billing-prod, web-prod');
    await ok('workspaces create keyed --bind unused');
    expect(await ok('tags show unused -o table')).toContain('Not used by any workspace.');
    await ok('workspaces delete keyed --yes');
    expect(await ok('tags show env:prod')).toBe('env:prod');
  });

  it.each([
    ['--where-name *-prod', 'billing-prod web-prod'],
    ['--where-name billing-* plain', 'billing-dev billing-prod plain'],
    ['--where-tag team:core', 'billing-prod'],
    ['--where-tag env:prod team:*', 'billing-prod web-prod'],
    ['--all-tags ENV:*', 'billing-dev billing-prod web-prod'],
    ['--any-tag team:core env:dev', 'billing-dev billing-prod'],
    ['--no-tag env:*', 'plain'],
    ['--without-tag env:*', 'plain'],
    ['--where-name b*l*g-* --no-tag team:core', 'billing-dev'],
    ['--where-name none', ''],
  ])('finds the workspaces for a tag with %s, and changes nothing in a dry run', async (where, names) => {
    expect((await ok(`tags attach unused ${where} --dry-run`)).split('\n').join(' ')).toBe(names);
    expect((await attributes('tags show unused'))['instance-count']).toBe(0);
  });

  it.each([
    ['--any-tag team:core env:dev', 'billing-dev billing-prod'],
    ['--all-tags env:* team:core', 'billing-prod'],
    ['--tag env:prod --all-tags team:*', 'billing-prod web-prod'],
    ['--tag env:*', 'billing-dev billing-prod web-prod'],
    ['--exclude-tag env:*', 'plain'],
    ['--without-tag env:*', 'plain'],
    ['--any-tag t*:shop none --page-size 1', 'web-prod'],
  ])('lists the workspaces that fit %s', async (where, names) => {
    expect((await ok(`workspaces list ${where}`)).split('\n').join(' ')).toBe(names);
  });

  it('chooses workspaces by their keys with values as well, also by those of their project', async () => {
    await ok('projects create Keyed --bind region=eu');
    await ok('workspaces create keyed --project Keyed');
    await ok('workspaces bind plain Owner=me');
    const chosen = async (where: string) =>
      (await ok(`tags attach unused ${where} --dry-run`)).split('\n').join(' ');
    expect(await chosen('--where-tag owner')).toBe('plain');
    expect(await chosen('--where-tag Own*')).toBe('plain');
    expect(await chosen('--any-tag region team:core')).toBe('billing-prod keyed');
    expect(await chosen('--no-tag env:* --no-tag reg*')).toBe('plain');
    expect((await ok('workspaces list --any-tag owner reg*')).split('\n')).toEqual(['keyed', 'plain']);
    await ok('workspaces unbind plain Owner');
    await ok('workspaces delete keyed --yes');
    await ok('projects delete Keyed --yes');
  });

  it('puts a tag on all workspaces that fit, tells how many had it, and takes it off again', async () => {
    await ok('tags create bulk');
    expect((await run('tags attach bulk --where-tag team:core')).stderr).toBe('Added bulk to 1 workspace.\n');
    expect((await run('tags attach bulk --where-name *-prod')).stderr).toBe(
      'Added bulk to 1 workspace. 1 workspace unchanged.\n',
    );
    expect((await attributes('tags show bulk'))['instance-count']).toBe(2);
    expect((await run('tags detach bulk --any-tag team:core team:shop')).stderr).toBe(
      'Removed bulk from 2 workspaces.\n',
    );
    expect((await attributes('tags show bulk'))['instance-count']).toBe(0);
    await ok('tags delete bulk --yes');
  });

  it('refuses a dry run of workspaces by name, a description beside them, and a tag that is not there', async () => {
    expect(await run('tags attach unused --workspace plain --dry-run')).toMatchObject({ exitCode: 2 });
    expect(await run('tags attach unused --workspace plain --where-name web')).toMatchObject({ exitCode: 2 });
    expect((await run('tags attach none --where-name *')).exitCode).toBe(3);
  });

  it('applies a file after its plan, and only when that is agreed to', async () => {
    file(
      'plan.yaml',
      'workspaces:\n  billing-dev: [env:dev, team:new]\n  web-prod: [team:shop]\n  fresh: [env:dev]\n',
    );
    const plan = [
      '+ tag team:new',
      '+ workspace fresh',
      '+ billing-dev: team:new',
      '+ fresh: env:dev',
      '- web-prod: env:prod',
      'Plan: 4 to add, 0 to change, 1 to remove.',
    ].join('\n');
    expect(await ok('tags apply plan.yaml --dry-run')).toBe(plan);
    const refused = await run('tags apply plan.yaml');
    expect(refused).toMatchObject({ exitCode: 2, stdout: `${plan}\n` });
    expect(refused.stderr).toContain('use --yes to skip the confirmation');
    expect(await tagsOf('web-prod')).toBe('env:prod team:shop');
    expect(await run('tags apply plan.yaml --yes')).toMatchObject({
      exitCode: 0,
      stdout: `${plan}\n`,
      stderr: 'Done: 4 added, 0 changed, 1 removed.\n',
    });
    expect(await tagsOf('web-prod')).toBe('team:shop');
    expect(await tagsOf('billing-dev')).toBe('env:dev team:new');
    expect(await tagsOf('fresh')).toBe('env:dev');
    expect(await tagsOf('billing-prod')).toBe('env:prod team:core');
    expect((await run('tags apply plan.yaml --yes')).stderr).toBe('No changes needed.\n');
  });

  it('leaves the tags of other owners alone', async () => {
    file('team.yaml', "owns: ['team:*']\nworkspaces:\n  billing-dev: []\n  fresh: [team:new]\n");
    await ok('tags apply team.yaml --yes');
    expect(await tagsOf('billing-dev')).toBe('env:dev');
    expect(await tagsOf('fresh')).toBe('env:dev team:new');
    file('foreign.yaml', "owns: ['team:*']\nworkspaces:\n  fresh: [env:prod]\n");
    expect(await run('tags apply foreign.yaml --yes')).toMatchObject({ exitCode: 2, stdout: '' });
  });

  it.each([
    ['bad.csv', 'workspace,tag\nbilling-dev,a b\n', /bad\.csv: line 2: Tags must only contain/],
    ['bad.yaml', 'workspaces:\n  a b: [c]\n', /Name can only include/],
    [
      'bad.json',
      '{"workspaces":{"a":"b"}}',
      /bad\.json: workspaces\.a: expected a list of tags, or an object/,
    ],
    ['bad.txt', 'x', /cannot tell the format of bad\.txt/],
  ])('does nothing for %s, which is wrong', async (name, text, message) => {
    const before = await ok('tags export');
    const { exitCode, stderr } = await run(`tags apply ${file(name, text)} --yes`);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
    expect(await ok('tags export')).toBe(before);
  });

  it('puts tags in the place of all that a workspace carries', async () => {
    await ok('workspaces create replaced --tag a b');
    await ok('workspaces tag replaced b c --replace');
    expect(await tagsOf('replaced')).toBe('b c');
    await ok('workspaces delete replaced --yes');
    await ok('tags delete a b c --yes');
  });

  it('keeps keys with values and projects in files, and changes them by a plan', async () => {
    file(
      'bound.yaml',
      `workspaces:
  plain: { tags: [], bindings: { env: prod, owner: me }, project: Shop }
projects:
  Shop: { cost: '42' }
`,
    );
    expect((await ok('tags apply bound.yaml --yes')).split('\n')).toEqual([
      '+ project Shop',
      '~ plain: in Default Project -> in Shop',
      '+ project Shop: cost=42',
      '+ plain: env=prod',
      '+ plain: owner=me',
      'Plan: 4 to add, 1 to change, 0 to remove.',
    ]);
    expect((await ok('workspaces effective plain')).split('\n').sort()).toEqual([
      'cost=42',
      'env=prod',
      'owner=me',
    ]);
    for (const format of ['yaml', 'json', 'csv']) {
      await ok(`tags export --out bound-again.${format}`);
      expect((await run(`tags import bound-again.${format}`)).stderr).toBe('No changes needed.\n');
    }
    file('bound.csv', 'workspace,tag,key,value\nplain,,env,test\n');
    expect((await ok('tags apply bound.csv --yes')).split('\n')).toEqual([
      '~ plain: env=prod -> env=test',
      '- plain: owner=me',
      'Plan: 0 to add, 1 to change, 1 to remove.',
    ]);
    expect(await ok('workspaces bindings plain')).toBe('env=test');
  });

  it('reads a file from standard input when its format is said', async () => {
    const options = { environment, input: 'workspace,tag\nplain,from:stdin\n' };
    await here().ok('tags import - --format csv', options);
    expect(await tagsOf('plain')).toBe('from:stdin');
    expect((await here().run('tags import -', options)).exitCode).toBe(2);
  });

  it('prunes the tags that no workspace carries, and no others', async () => {
    expect((await ok('tags prune --unused --dry-run')).split('\n')).toEqual(['unused']);
    expect((await ok('tags prune --dry-run')).split('\n')).toEqual(['unused']);
    expect(await ok('tags prune --dry-run --matching tmp:*')).toBe('');
    expect((await run('tags prune --unused')).exitCode).toBe(2);
    const { exitCode, stderr } = await run('tags prune --yes');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('or --dry-run to print them')]);
    expect((await run('tags prune --unused --matching tmp:* --yes')).stderr).toBe('Deleted 0 tags.\n');
    expect((await run('tags prune --unused --yes')).stderr).toBe('Deleted 1 tag.\n');
    expect((await ok('tags list')).split('\n')).toEqual([
      'env:dev',
      'env:prod',
      'from:stdin',
      'team:core',
      'team:new',
      'team:shop',
    ]);
  });

  it('deletes with --prune what a file does not name and nobody carries any more', async () => {
    file('prune.yaml', 'workspaces:\n  plain: []\n');
    expect((await ok('tags apply prune.yaml --prune --yes')).split('\n')).toEqual([
      '- plain: from:stdin',
      '- tag from:stdin',
      'Plan: 0 to add, 0 to change, 2 to remove.',
    ]);
    expect((await ok('tags list')).split('\n')).not.toContain('from:stdin');
  });
};
