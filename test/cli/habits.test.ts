import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQuickly } from '../../src/cli/parse/fast-path.ts';
import { inOwnSpelling } from '../../src/cli/parse/habits.ts';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { streamsDouble } from './streams.double.ts';

const own = async (line: string): Promise<string> =>
  (await inOwnSpelling(line.split(' '), commandTree)).join(' ');

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

  it.each([
    'team --help',
    'team --quiet check',
    'secrets get .env NAME',
    'get .env NAME',
    'transit keys list -o=json',
    'transit keys list -ojson',
    'token create -orphan',
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
