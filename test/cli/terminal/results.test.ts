import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLeaf, isGroup, type Node } from '../../../src/cli/command.ts';
import { runCommandLine } from '../../../src/cli/command-line.ts';
import { commandTree } from '../../../src/cli/tree.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { type CatalogueBranch, isEntry } from '../../../src/operations/catalogue-entry.ts';
import { MASTER_KEY } from '../../e2e/harness.ts';
import { streamsDouble } from '../streams.double.ts';

let directory = '';
const environment = (): Record<string, string> => ({
  COFFER_STORE: join(directory, 'store'),
  COFFER_MASTER_KEY: MASTER_KEY,
  COFFER_ORG: 'acme',
  COFFER_STATE: 'none',
  HOME: directory,
  LANG: 'C.UTF-8',
  NO_COLOR: '1',
});

interface Shown {
  readonly out: string;
  readonly err: string;
  readonly exitCode: number;
}

async function shown(line: string, columns = 0): Promise<Shown> {
  const streams = streamsDouble(columns === 0 ? {} : { terminals: ['out', 'err'], columns });
  const exitCode = await runCommandLine(line.split(' '), streams, environment());
  const { out, err } = streams.written;
  return { out, err, exitCode };
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-results-'));
  for (const line of ['init', 'orgs create acme', 'auth enable approle', 'auth enable jwt --path ci'])
    expect(await shown(line)).toMatchObject({ exitCode: 0 });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('an empty list', () => {
  it.each([
    ['transit keys list', 'No keys yet. Create one: coffer transit keys create NAME'],
    ['tags list', 'No tags yet. Create one: coffer tags create NAME'],
    ['tags list --org acme', 'No tags yet. Create one: coffer tags create NAME --org acme'],
    ['workspaces list', 'No workspaces yet. Create one: coffer workspaces create NAME'],
    ['tags reserved list', 'No reserved tag keys yet. Create one: coffer tags reserved create KEY'],
    ['token list', 'No tokens yet. Create one: coffer token create'],
    ['auth approle list', 'No roles yet. Create one: coffer auth approle write NAME'],
    ['auth jwt list --path ci', 'No roles yet. Create one: coffer auth jwt write NAME --path ci'],
  ])('of "%s" says how to create the first entry on a terminal', async (line, message) => {
    expect(await shown(line, 200)).toEqual({ out: '', err: `${message}\n`, exitCode: 0 });
    expect((await shown(`${line} -q`, 200)).err).toBe('');
  });

  it.each([
    ['tags list prod', 'No tags found.'],
    ['workspaces list --tag a', 'No workspaces found.'],
    ['transit keys list --after m', 'No keys found.'],
  ])('of "%s" says on a terminal that its filter leaves nothing', async (line, message) => {
    expect(await shown(line, 200)).toEqual({ out: '', err: `${message}\n`, exitCode: 0 });
  });

  it.each(['transit keys list', 'tags list', 'token list'])(
    'of "%s" is nothing in a pipe, and the same document as ever with -o json',
    async (line) => {
      expect(await shown(line)).toEqual({ out: '', err: '', exitCode: 0 });
      const { out, err } = await shown(`${line} -o json`, 200);
      expect(Object.values(JSON.parse(out) as object)[0]).toEqual([]);
      expect(err).toBe('');
      expect((await shown(`${line} -o raw`, 200)).err).toBe('');
    },
  );

  it('has a message for every list of objects that can be created', async () => {
    const without: string[] = [];
    const visit = async (branch: CatalogueBranch, path: readonly string[]): Promise<void> => {
      for (const [word, node] of Object.entries(branch)) {
        const here = [...path, word];
        if (!isEntry(node)) await visit(node, here);
        else if (node.command && word.startsWith('list')) {
          const { cli } = (await node.load()).declaration;
          if (cli?.empty === undefined) without.push(here.join(' '));
        }
      }
    };
    await visit(catalogue, []);
    // These are never empty.
    expect(without.sort()).toEqual(['auth list', 'mounts list', 'policy list']);
  });

  it('names a command that exists', async () => {
    const commands: string[] = [];
    const visit = async (branch: CatalogueBranch): Promise<void> => {
      for (const node of Object.values(branch)) {
        if (!isEntry(node)) await visit(node);
        else if (node.command) {
          const { create } = (await node.load()).declaration.cli?.empty ?? {};
          if (create !== undefined) commands.push(create);
        }
      }
    };
    await visit(catalogue);
    expect(commands.length).toBeGreaterThan(10);
    for (const line of commands) {
      const words = line.split(' ').filter((word) => word !== 'coffer' && !/^[A-Z=]+$/.test(word));
      expect([line, words.reduce<Node | undefined>(childOf, commandTree) !== undefined]).toEqual([
        line,
        true,
      ]);
    }
  });
});

const childOf = (node: Node | undefined, word: string): Node | undefined =>
  node !== undefined && isGroup(node) ? node.children[word] : (undefined as CommandLeaf | undefined);

describe('a change of tags', () => {
  beforeAll(async () => {
    for (const line of [
      'workspaces create web api',
      'tags create one two three',
      'tags attach one --workspace web',
      'transit keys create tagged',
    ])
      expect(await shown(line)).toMatchObject({ exitCode: 0, err: '' });
  });

  it.each([
    ['tags detach one --workspace api', 'No changes made: 1 workspace does not have the tag.'],
    ['tags attach one --workspace web', 'No changes made: 1 workspace already has the tag.'],
    ['tags attach one --workspace web api', 'Added the tag to 1 workspace. 1 workspace unchanged.'],
    ['tags detach one --workspace api', 'Removed the tag from 1 workspace.'],
    ['workspaces tag web one two', 'Added 1 tag to the workspace. 1 tag unchanged.'],
    ['workspaces tag web ONE', 'No changes made: the workspace already has the tag.'],
    ['workspaces untag web two three', 'Removed 1 tag from the workspace. 1 tag unchanged.'],
    ['workspaces untag web two three', 'No changes made: the workspace does not have any of the tags.'],
    ['tags attach one --key tagged', 'Added one to 1 key.'],
    ['tags attach one --key tagged', 'Added one to 0 keys. 1 key unchanged.'],
  ])('by "%s" is reported as "%s"', async (line, message) => {
    expect((await shown(line, 200)).err).toBe(`${message}\n`);
  });

  it('takes several tags, on named and on chosen workspaces and on keys', async () => {
    const { err } = await shown('tags attach one two three --workspace web api', 200);
    // The progress bar of a slow machine is erased before the messages.
    expect(err.split('\r\u001b[K').at(-1)).toBe(
      'Added one to 1 workspace. 1 workspace unchanged.\nAdded two to 2 workspaces.\nAdded three to 2 workspaces.\n',
    );
    expect((await shown('tags of api')).out).toBe('one\nthree\ntwo\n');
    expect((await shown('tags detach two three --where-name * --dry-run')).out).toBe(
      'two\tapi\ntwo\tweb\nthree\tapi\nthree\tweb\n',
    );
    expect(JSON.parse((await shown('tags detach two three --where-name api -o json')).out)).toEqual({
      tags: [
        { tag: 'two', workspaces: ['api'], done: true },
        { tag: 'three', workspaces: ['api'], done: true },
      ],
    });
    expect((await shown('tags attach two three --key tagged')).err).toBe(
      'Added two to 1 key.\nAdded three to 1 key.\n',
    );
    expect(await shown('tags attach two nowhere --workspace api')).toMatchObject({ exitCode: 3 });
    expect((await shown('tags of api')).out).toBe('one\n');
    expect((await shown('orgs create second third')).out).toBe('second\nthird\n');
  });

  it('lists the tags that no workspace and no key has, as prune finds them', async () => {
    await shown('tags create idle on-a-key');
    await shown('tags attach on-a-key --key tagged');
    expect((await shown('tags list --unused')).out).toBe('idle\n');
    expect((await shown('tags list --unused key')).out).toBe('');
    expect((await shown('tags prune --unused --dry-run')).out).toBe('idle\n');
    expect((await shown('tags list --unused --not-on web')).out).toBe('idle\n');
    const { meta, links } = JSON.parse((await shown('tags list --unused -o json')).out);
    expect(meta.pagination['total-count']).toBe(1);
    expect(decodeURIComponent(links.first)).toContain('filter[unused]=true');
  });

  it('has one name for each idea, and the earlier names still work without being listed', async () => {
    for (const [line, former, name] of [
      ['tags list', 'exclude-taggable', 'not-on'],
      ['workspaces list', 'exclude-tag', 'without-tag'],
      ['tags attach', 'no-tag', 'without-tag'],
    ]) {
      const help = (await shown(`${line} --help`)).out;
      expect(help).toContain(`--${name} `);
      expect(help).not.toContain(`--${former} `);
    }
    const listed = async (option: string) => (await shown(`tags list --${option} api`)).out;
    expect(await listed('exclude-taggable')).toBe(await listed('not-on'));
    expect(await listed('not-on')).not.toContain('one\n');
    const left = async (option: string) => (await shown(`workspaces list --${option}=two`)).out;
    expect(await left('exclude-tag')).toBe('api\n');
    expect(await left('without-tag')).toBe('api\n');
  });

  it('shows a workspace without an empty row', async () => {
    expect((await shown('workspaces show web', 100)).out).toMatch(/^┌[─┬]+┐\n│ Name +│ web/);
  });
});

describe('keys', () => {
  beforeAll(async () => {
    await shown('transit keys create orders');
    await shown('transit keys create a-key-with-a-rather-long-name --type ed25519');
    await shown('transit keys rotate orders');
  });

  it('are listed with type, latest version and age on a terminal, and by name alone in a pipe', async () => {
    const { out } = await shown('transit keys list', 100);
    expect(out).toMatch(/│ Name +│ Type +│ Latest version │ Created +│ Rotated +│/);
    expect(out).toMatch(/│ orders +│ aes256-gcm96 │ 2 +│ just now │ just now │\n│ tagged .*│ just now │ +│/);
    expect((await shown('transit keys list')).out).toBe('a-key-with-a-rather-long-name\norders\ntagged\n');
    expect((await shown('transit keys list -o raw', 100)).out).toBe(
      'a-key-with-a-rather-long-name\norders\ntagged\n',
    );
  });

  it('are listed with all columns by -o wide in a pipe as well', async () => {
    const { out } = await shown('transit keys list -o wide');
    expect(out).toMatch(/^Name +Type +Latest version +Created +Rotated\n/);
    expect(out).toMatch(/^orders +aes256-gcm96 +2 +(?:\d{4}-\d\d-\d\dT[\d:.]+Z *){2}$/m);
    expect((await shown('transit keys list -o table')).out).toBe(out);
  });

  it('are shown in five lines with a table of versions, and with every setting by -o wide', async () => {
    const { out } = await shown('transit keys read orders', 100);
    expect(out.split('\n').findIndex((line) => line.startsWith('└'))).toBe(6);
    expect(out).toMatch(/│ 2 +│ just now │ latest +│\n│ 1 +│ just now │ enabled │/);
    expect(out).toContain('All settings: coffer transit keys read orders -o wide\n');
    const wide = (await shown('transit keys read orders -o wide', 100)).out;
    expect(wide).toMatch(/│ allow_plaintext_backup +│ false/);
    expect(wide).toMatch(/│ version 2 +│ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.000Z │/);
    const piped = (await shown('transit keys read orders -o table')).out;
    expect((await shown('transit keys read orders -o wide')).out).toBe(piped);
    expect(piped).toMatch(/^version 2 +\d{4}-/m);
  });

  it('that are rotated, configured or trimmed are named with type and version, and what changed', async () => {
    expect((await shown('transit keys rotate orders', 200)).err).toBe(
      'Rotated key orders (aes256-gcm96) to version 3. Rewrap old values with "coffer transit rewrap orders CIPHERTEXT", and values in files with "coffer secrets rewrap FILE".\n',
    );
    expect((await shown('transit keys config orders --min-decryption-version 2', 200)).err).toBe(
      'Updated key orders (aes256-gcm96): min-decryption-version 2.\n',
    );
    expect((await shown('transit keys rotate orders')).err).toBe('');
  });

  it('are listed with all columns by -o wide in a pipe as well, by their names alone otherwise', async () => {
    expect((await shown('transit keys list -o wide')).out).toMatch(
      /^Name +Type +Latest version +Created +Rotated\n(?:.*\n)*orders +aes256-gcm96 +\d+ +≤ 2\d{3}-\d\d-\d\d +2\d{3}-.*Z\n/,
    );
    expect((await shown('transit keys list')).out.split('\n')).toContain('orders');
  });

  it('fit into a terminal of 40 to 200 columns', async () => {
    for (let columns = 40; columns <= 200; columns += 20) {
      for (const line of ['transit keys list', 'transit keys read orders', 'status', 'slots list']) {
        const lines = (await shown(line, columns)).out.split('\n').filter((text) => /[│─]/.test(text));
        expect(Math.max(...lines.map((text) => text.length))).toBeLessThanOrEqual(columns);
      }
    }
  });
});

describe('what a command that creates or changes something prints', () => {
  it.each([
    ['orgs create north', 'Created organization north. To use it: --org north, or COFFER_ORG=north.'],
    ['orgs create south west', 'Created organizations south and west.'],
    ['workspaces create w1 --org north', 'Created workspace w1 in north.'],
    ['workspaces create w2 w3 w4 --org north', 'Created workspaces w2, w3 and w4 in north.'],
    ['workspaces create a b c d e f --org north', 'Created 6 workspaces in north.'],
    ['projects create platform --org north', 'Created project platform in north.'],
    ['tags create env:prod env:test --org north', 'Created tags env:prod and env:test in north.'],
    ['tags reserved create team --org north', 'Reserved tag key team in north.'],
    ['workspaces delete w1 --org north --yes', 'Deleted workspace w1.'],
    ['workspaces delete w2 w3 --org north --yes', 'Deleted workspace w2.\nDeleted workspace w3.'],
    ['projects delete platform --org north --yes', 'Deleted project platform.'],
    ['orgs delete south west --yes', 'Deleted organization south.\nDeleted organization west.'],
    [
      'transit keys create one two',
      'Created key one (aes256-gcm96, version 1).\nCreated key two (aes256-gcm96, version 1).',
    ],
    [
      'transit keys rotate one two',
      'Rotated key one (aes256-gcm96) to version 2.\nRotated key two (aes256-gcm96) to version 2.',
    ],
  ])('on a terminal is a sentence: %s', async (line, sentence) => {
    const { out, err, exitCode } = await shown(line, 200);
    expect([out, exitCode]).toEqual(['', 0]);
    expect(err.replaceAll(/ Old ciphertexts.*/g, '')).toContain(sentence.split('\n')[0]);
    for (const part of sentence.split('\n')) expect(err).toContain(part);
  });

  it('in a pipe is the name alone, as before', async () => {
    expect(await shown('workspaces create x1 x2 --org north')).toEqual({
      out: 'x1\nx2\n',
      err: '',
      exitCode: 0,
    });
    expect(await shown('transit keys create piped')).toEqual({ out: '', err: '', exitCode: 0 });
  });

  it('for programs is a list of the results of several names', async () => {
    const { out } = await shown('transit keys create json1 json2 -o json');
    expect((JSON.parse(out) as { name: string }[]).map(({ name }) => name)).toEqual(['json1', 'json2']);
    const table = await shown('transit keys create tab1 tab2 -o table');
    expect(table.out).toMatch(/tab1[\s\S]*tab2/);
  });

  it('of several names is what was done before one failed, and the error of that one', async () => {
    await shown('transit keys create there');
    const { err, exitCode } = await shown('transit keys rotate there absent', 200);
    expect(err).toContain('Rotated key there');
    expect(err).toContain('absent');
    expect(exitCode).toBe(3);
  });

  it('is an empty list for programs if nothing has a result', async () => {
    await shown('workspaces create y1 y2 --org north');
    expect((await shown('workspaces delete y1 y2 --org north --yes -o json')).out).toBe('[]\n');
    expect((await shown('transit keys delete json1 json2 --yes', 200)).exitCode).not.toBe(0);
  });
});

describe('the help of a narrow terminal', () => {
  it.each([60, 80])('has no prose wider than %i columns', async (columns) => {
    for (const line of ['--help', 'transit --help', 'transit keys --help', 'help options']) {
      const { out } = await shown(line, columns);
      const prose = out.split('\nExamples:')[0]?.split('\n') ?? [];
      const end = out.split('\n').filter((text) => /^More:|-format\b/.test(text));
      expect([...prose, ...end].filter((text) => text.length > columns && /\S +\S+ +\S/.test(text))).toEqual(
        [],
      );
    }
  });
});

describe('the label of a new store', () => {
  it.each([
    ['the slot for the secret in the environment', '', 'raw'],
    ['the shares, if there are some', ' --shares 3 --threshold 2', 'shares'],
  ])('is that of %s', async (_, options, kind) => {
    const store = join(directory, `labelled-${kind}`);
    expect((await shown(`init --store ${store} --label laptop${options}`)).exitCode).toBe(0);
    const { out } = await shown(`slots list --store ${store} -o json`);
    const slots = JSON.parse(out) as { kind: string; label?: string }[];
    expect(slots.filter(({ label }) => label === 'laptop').map((slot) => slot.kind)).toEqual([kind]);
    if (kind === 'raw') expect((await shown(`slots list --store ${store}`, 200)).out).toContain('master key');
  });
});

describe('a version that no longer decrypts', () => {
  it('is still listed on a terminal, as retired', async () => {
    for (const line of [
      'transit keys create aged',
      'transit keys rotate aged',
      'transit keys rotate aged',
      'transit keys config aged --min-decryption-version 3',
    ])
      await shown(line);
    const { out } = await shown('transit keys read aged', 120);
    expect(out).toMatch(
      /│ 3 +│ just now │ latest +│\n│ 1-2 +│ +│ retired \(below min-decryption-version\) │/,
    );
  });
});

describe('a new token', () => {
  it('is announced on a terminal with its policies, and a root token with what that means', async () => {
    expect((await shown('token create', 200)).err).toBe(
      'Created a token with the policy root, which permits everything. It does not expire.\n',
    );
    expect((await shown('token create --policy default --ttl 1h', 200)).err).toBe(
      'Created a token with the policy default.\n',
    );
    expect((await shown('token create')).err).toBe('');
  });

  it('is shown on a terminal with times in place of seconds, and in a pipe with the seconds', async () => {
    const token = (await shown('token create --policy default --ttl 2h')).out.trim();
    const { out } = await shown(`token lookup ${token}`, 200);
    expect(out).toMatch(/Created +│ just now/);
    const wide = (await shown(`token lookup ${token} -o wide`, 200)).out;
    expect(wide).toMatch(/creation_time +│ 2\d{3}-\S+Z/);
    expect(wide).toMatch(/creation_ttl +│ 7200 \(2 hours\)/);
    expect((await shown(`token lookup ${token}`)).out).toMatch(/^creation_time\t\d{10}/m);
    expect((await shown(`token lookup ${token} -o table`)).out).toMatch(/^creation_time +\d{10}$/m);
  });
});

describe('the passphrase command', () => {
  it('changes the passphrase without a further word, as its only command does', async () => {
    expect((await shown('passphrase')).err).toContain('this store has no passphrase');
  });
});
