import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { topicPages } from '../../src/cli/topics/registry.ts';
import { topicText } from '../../src/cli/topics/topic.ts';
import { DirectoryHere } from './directory-here.ts';

const SMALL = { terminals: ['out', 'err'], columns: 60 } as const;

describe('on a terminal of 60 columns', () => {
  it('the topic of policies breaks no rule', () => {
    const topic = topicPages.find(({ name }) => name === 'policy-format');
    expect(topic).toBeDefined();
    if (topic === undefined) return;
    const rules = topicText(topic, 60)
      .split('\n')
      .filter((line) => /["{}]/.test(line));
    expect(rules.length).toBeGreaterThan(8);
    expect(rules.filter((line) => line.length > 60)).toEqual([]);
  });

  it.each(topicPages)('no line of the topic $name is wider than the terminal', (topic) => {
    const lines = topicText(topic, 60).split('\n');
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
  });

  it('an example has its comment above it, and a command that is still too long goes on in the next line', async () => {
    const here = DirectoryHere.make();
    const shown = stripVTControlCharacters(await here.ok('help sharing', SMALL));
    expect(shown).toContain(
      '    # with your store; do not commit the result\n    coffer secrets decrypt .env\n' +
        '    # once: creates the keyring, whose first key is called\n    # app\n    coffer team init\n',
    );
    expect(shown).toContain('-m \\\n      "Share the secrets with bob" && git push\n');
  });

  it('no topic is wider than a terminal of any width, commands that are shown as written included', async () => {
    const here = DirectoryHere.make();
    for (const { name } of topicPages)
      for (let columns = 60; columns <= 100; columns++) {
        const shown = stripVTControlCharacters(await here.ok(`help ${name}`, { ...SMALL, columns }));
        expect(
          shown.split('\n').filter(({ length }) => length > columns),
          `${name} at ${columns}`,
        ).toEqual([]);
      }
  });

  it('an example is as written in a pipe, and on a terminal that is wide enough', async () => {
    const here = DirectoryHere.make();
    const line =
      '    coffer team init                # once: creates the keyring, whose first key is called app\n';
    expect(await here.ok('help sharing')).toContain(line);
    expect(await here.ok('help sharing', { ...SMALL, columns: 100 })).toContain(line);
  });

  it('policy who shows the names of tokens, and the accessor only where there is room', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('policy write p -', { input: 'path "transit/encrypt/app" { capabilities = ["update"] }' });
    await here.ok('token create --policy p --display-name pipeline --type service');
    const shown = await here.ok('policy who update transit/encrypt/app', SMALL);
    expect(shown).toContain('token-pipeline');
    expect(shown).not.toContain('Accessor');
    const wide = await here.ok('policy who update transit/encrypt/app', { ...SMALL, columns: 120 });
    expect(stripVTControlCharacters(wide)).toMatch(/Name +│ Policies │ Accessor/);
  });
});

describe('heads of tables', () => {
  it('begin with a capital, and write ID in capitals', async () => {
    const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    for (const line of [
      'orgs create acme',
      'workspaces create web',
      'projects create platform',
      'tags create x',
    ])
      await here.ok(line);
    const wide = { terminals: ['out', 'err'], columns: 160 } as const;
    for (const line of [
      'token capabilities transit/keys/app sys/health',
      'orgs list',
      'workspaces list',
      'projects list',
      'tags list',
      'transit keys list',
      'mounts list',
    ]) {
      const head =
        stripVTControlCharacters(await here.ok(line, wide))
          .split('\n')
          .find((row) => row.includes('│')) ?? '';
      const titles = head.split('│').map((title) => title.trim());
      expect(titles.length, line).toBeGreaterThan(2);
      expect(
        titles.filter((title) => title !== '' && !/^[A-Z]/.test(title)),
        line,
      ).toEqual([]);
      expect(
        titles.filter((title) => /\b(?:Id|Instances)\b/.test(title)),
        line,
      ).toEqual([]);
    }
  });
});

describe('coffer read', () => {
  it('prints fields in the order of their names, as an agent and a server send them', async () => {
    const here = await DirectoryHere.withStore();
    const fields = (await here.ok('read transit/keys/app')).split('\n').map((line) => line.split('\t')[0]);
    expect(fields).toEqual(fields.toSorted());
    const data: unknown = JSON.parse(await here.ok('read transit/keys/app -o json'));
    expect(Object.keys(data as object)).toEqual(fields);
  });
});
