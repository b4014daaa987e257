import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isGroup, type Node } from '../../src/cli/command.ts';
import { everywhereBeside } from '../../src/cli/parse/everywhere.ts';
import { parseQuickly } from '../../src/cli/parse/fast-path.ts';
import { inOwnSpelling } from '../../src/cli/parse/habits.ts';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { streamsDouble } from './streams.double.ts';

const own = async (line: string): Promise<string> =>
  (await inOwnSpelling(line.split(' '), commandTree)).join(' ');

/** The flags of all commands, each with the words of its command. */
async function optionsOf(node: Node, path: readonly string[]): Promise<(readonly [string, string])[]> {
  if (!isGroup(node)) {
    const { options, passesOn } = await node.load();
    const flags = [...options, ...everywhereBeside(options)].map(({ flag }) => flag);
    return passesOn === undefined ? flags.map((flag) => [path.join(' '), flag] as const) : [];
  }
  const below = Object.entries(node.children).map(([word, child]) => optionsOf(child, [...path, word]));
  return (await Promise.all(below)).flat();
}

describe('a spelling of other programs', () => {
  it.each([
    ['transit keys ls', 'transit keys list'],
    ['transit keys show orders', 'transit keys read orders'],
    ['transit keys get orders', 'transit keys read orders'],
    ['tags get env:prod', 'tags show env:prod'],
    ['orgs read acme', 'orgs show acme'],
    ['ls transit/keys', 'list transit/keys'],
    ['transit keys list --json', 'transit keys list --output=json'],
    ['--json transit keys list', '--output=json transit keys list'],
    ['transit encrypt orders --file card.txt', 'transit encrypt orders --in card.txt'],
    ['read -field=type transit/keys/orders', 'read --field=type transit/keys/orders'],
    ['read -format=json transit/keys/orders', 'read --format=json transit/keys/orders'],
    ['read -format json transit/keys/orders', 'read --format json transit/keys/orders'],
    ['transit keys read orders -format=json', 'transit keys read orders --output=json'],
    ['token create -policy=deploy -ttl=1h', 'token create --policy=deploy --ttl=1h'],
    ['token create -policy deploy -renewable', 'token create --policy deploy --renewable'],
    ['token create -orphan -format=json', 'token create --orphan --format=json'],
    ['workspaces list -org acme', 'workspaces list --org acme'],
    ['-output=json status', '--output=json status'],
    ['team --json', 'team list --output=json'],
    ['team --identity me.key', 'team list --identity me.key'],
    ['login -method=userpass username=ada', 'login --method=userpass username=ada'],
    ['write -f transit/keys/orders', 'write --force transit/keys/orders'],
    ['write -force transit/keys/orders', 'write --force transit/keys/orders'],
    ['-address=http://127.0.0.1:8200 transit keys ls', '--address=http://127.0.0.1:8200 transit keys list'],
    ['transit encrypt orders x -key_version=2', 'transit encrypt orders x --key-version=2'],
    ['transit encrypt orders x --key_version 3', 'transit encrypt orders x --key-version 3'],
  ])('is read as our own: %s', async (line, meant) => {
    expect(await own(line)).toBe(meant);
    expect(await parseWithCommander(meant.split(' '), commandTree, streamsDouble())).toMatchObject({
      kind: 'run',
    });
  });

  it('is each long option with one dash, also one that begins with the letter of -o', async () => {
    const lines = (await optionsOf(commandTree, [])).filter(([, flag]) => flag.startsWith('o'));
    const wrong = [];
    for (const [path, flag] of lines) {
      if ((await own(`${path} -${flag}`)) !== `${path} --${flag}`) wrong.push(`${path} -${flag}`);
    }
    expect(wrong).toEqual([]);
    expect(new Set(lines.map(([, flag]) => flag))).toContain('orphan');
  });

  it.each([
    ['token create -output-curl-string', 'token create --output-curl-string'],
    ['-output_policy status', '--output-policy status'],
    ['transit keys list -outpt=json', 'transit keys list --outpt=json'],
  ])('is refused by its whole name where it is another option: %s', async (line, refused) => {
    expect(await own(line)).toBe(refused);
  });

  it.each([
    'team --help',
    'team --quiet check',
    'secrets get .env NAME',
    'get .env NAME',
    'transit keys list -o=json',
    'transit keys list -ojson',
    'transit keys list -ojsn',
    'transit keys list -oyaml',
    'exec -file=.env -- env',
    'exec -f .env -- env -format=json --json',
    'transit encrypt orders --in -policy=x',
    'transit encrypt orders -- -key-version=2',
    'transit keys public orders --format ssh',
    'workspaces list --tag -json',
    'transit keys list -qy',
    'nonsense -format=json',
    'transit encrypt orders -nonsense=1',
  ])('is none where it means something else, or nothing: %s', async (line) => {
    expect(await own(line)).toBe(line);
  });

  it('is never seen in a command line that is parsed as it is', async () => {
    const words = fc.constantFrom(
      ...[
        'transit',
        'keys',
        'list',
        'read',
        'encrypt',
        'orders',
        '-o',
        'json',
        '--out',
        'x',
        '-q',
        '--',
        '-',
      ],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 8 }), async (argv) => {
        if ((await parseQuickly(argv, commandTree)) !== undefined)
          expect(await inOwnSpelling(argv, commandTree)).toEqual(argv);
      }),
    );
  });
});
