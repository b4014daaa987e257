import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeAt } from '../../src/cli/command.ts';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { commandTree } from '../../src/cli/tree.ts';
import type { CofferError } from '../../src/ground/errors.ts';
import { temporaryDirectory } from '../store/temporary-store.ts';
import { streamsDouble } from './streams.double.ts';

const refusalOf = (line: string): Promise<unknown> =>
  parseWithCommander(line.split(' '), commandTree, streamsDouble()).catch((error: unknown) => error);

/** Commands of a person's day, as far as they are there. */
const has = (word: string): boolean => Object.hasOwn(commandTree.children, word);
const EXEC = has('exec') ? 'did you mean "coffer exec"? see "coffer --help"' : 'see "coffer --help"';
const SECRETS = `did you mean "coffer ${has('secrets') ? 'secrets get' : 'transit encrypt'}"? see "coffer --help"`;

describe('an unknown command', () => {
  it.each(['constructor', 'toString', '__proto__'])('is %s as well, which every object has', async (word) => {
    expect(nodeAt(commandTree, [word])).toBeUndefined();
    expect(nodeAt(commandTree, ['transit', word])).toBeUndefined();
    expect(await refusalOf(word)).toMatchObject({ message: `unknown command '${word}'` });
  });

  it.each([
    [
      'transit keys rm orders',
      "unknown command 'rm'",
      'did you mean "coffer transit keys delete"? see "coffer transit keys --help"',
    ],
    [
      'transit keys show orders',
      "unknown command 'show'",
      'did you mean "coffer transit keys read"? see "coffer transit keys --help"',
    ],
    [
      'transit keys set orders',
      "unknown command 'set'",
      'did you mean "coffer transit keys config"? see "coffer transit keys --help"',
    ],
    [
      'token delete x',
      "unknown command 'delete'",
      'did you mean "coffer token revoke"? see "coffer token --help"',
    ],
    [
      'tags add env:prod',
      "unknown command 'add'",
      'did you mean "coffer tags create" or "coffer tags attach"? see "coffer tags --help"',
    ],
    ['run x', "unknown command 'run'", EXEC],
    ['kv get x', "unknown command 'kv'", SECRETS],
    ['key list', "unknown command 'key'", 'did you mean "coffer transit keys"? see "coffer --help"'],
    ['tag list', "unknown command 'tag'", 'did you mean "coffer tags"? see "coffer --help"'],
    ['server', "unknown command 'server'", 'did you mean "coffer serve"? see "coffer --help"'],
    ['operator init', "unknown command 'operator'", 'did you mean "coffer init"? see "coffer --help"'],
    ['operator unseal', "unknown command 'operator'", 'did you mean "coffer unseal"? see "coffer --help"'],
    ['operator', "unknown command 'operator'", 'did you mean "coffer unseal"? see "coffer --help"'],
    [
      'secrets enable transit',
      "unknown command 'enable'",
      'a store has transit already; use "coffer mounts add PATH" for another mount; see "coffer secrets --help"',
    ],
    [
      'workspaces tags',
      "unknown command 'tags'",
      'did you mean "coffer tags of"? see "coffer workspaces --help"',
    ],
    [
      'transit encrypt orders x -key-version=2',
      "unknown option '-key-version=2'",
      'did you mean --key-version? see "coffer transit encrypt --help"',
    ],
    [
      'transit ls',
      "unknown command 'ls'",
      'did you mean "coffer transit keys list"? see "coffer transit --help"',
    ],
    [
      'transit list',
      "unknown command 'list'",
      'did you mean "coffer transit keys list"? see "coffer transit --help"',
    ],
    ['store check', "unknown command 'check'", 'did you mean "coffer doctor"? see "coffer store --help"'],
    ['lease revoke', "unknown command 'lease'", 'did you mean "coffer token revoke"? see "coffer --help"'],
    [
      'whoami',
      "unknown command 'whoami'",
      'use "coffer token lookup" with a server, "coffer status" with a local store, which has no users; see "coffer --help"',
    ],
    [
      'password',
      "unknown command 'password'",
      'did you mean "coffer passphrase change"? see "coffer --help"',
    ],
    ['passwd', "unknown command 'passwd'", 'did you mean "coffer passphrase change"? see "coffer --help"'],
    [
      'transit keys undelete orders',
      "unknown command 'undelete'",
      'did you mean "coffer transit keys soft-delete-restore"? see "coffer transit keys --help"',
    ],
    ['team status', "unknown command 'status'", 'did you mean "coffer team"? see "coffer team --help"'],
    [
      'audit enable file',
      "unknown command 'enable'",
      'did you mean "coffer serve --audit-log FILE"? see "coffer audit --help"',
    ],
    [
      'upgrade',
      "unknown command 'upgrade'",
      '"coffer version" on a terminal says how to upgrade this copy; see "coffer --help"',
    ],
    ...['update', 'self-update'].map((word): [string, string, string] => [
      word,
      `unknown command '${word}'`,
      '"coffer version" on a terminal says how to upgrade this copy; see "coffer --help"',
    ]),
    [
      'uninstall',
      "unknown command 'uninstall'",
      'delete the executable; "coffer help store-format" lists the files that remain, such as the store; see "coffer --help"',
    ],
    ['-v', "unknown option '-v'", 'did you mean --version? see "coffer --help"'],
    ['--hlep', "unknown option '--hlep'", 'did you mean --help? see "coffer --help"'],
    ['status -j', "unknown option '-j'", 'did you mean -o json? see "coffer status --help"'],
    [
      'transit decrypt orders x -c',
      "unknown option '-c'",
      'did you mean --copy? see "coffer transit decrypt --help"',
    ],
    [
      'token create --name ci',
      "unknown option '--name'",
      'did you mean --display-name? see "coffer token create --help"',
    ],
    ...[
      ['auth userpass write bob --policies x', 'token-policies'],
      ['auth approle write r --policies x', 'token-policies'],
      ['auth jwt write r --ttl 1h', 'token-ttl'],
      ['token roles write r --policy x', 'allowed-policies'],
      ['transit keys create foo -t ed25519', 'type'],
      ['transit encrypt orders -i x', 'in'],
      ['tags attach a --to web', 'workspace'],
    ].map(([line = '', meant]): [string, string, string] => {
      const words = line.split(' ');
      const at = words.findIndex((word) => word.startsWith('-'));
      const path = words.slice(0, at - 1).join(' ');
      return [line, `unknown option '${words[at]}'`, `did you mean --${meant}? see "coffer ${path} --help"`];
    }),
    [
      'transit encrypt --key orders hi',
      "unknown option '--key'",
      expect.stringMatching(
        /^the key is the first argument; usage: coffer transit encrypt orders \[VALUE\], e\.g\. /,
      ) as string,
    ],
    [
      'workspaces list --untagged',
      "unknown option '--untagged'",
      'use --without-tag \'*\'; see "coffer workspaces list --help"',
    ],
    ...['--exclude-taggable', '--exclude-tags'].map((flag): [string, string, string] => [
      `workspaces list ${flag} x`,
      `unknown option '${flag}'`,
      'use --without-tag TAG; see "coffer workspaces list --help"',
    ]),
    ...[
      ['-d', 'secrets decrypt FILE --stdout'],
      ['-e', 'secrets encrypt FILE'],
      ['-r', 'transit envelope encrypt --recipient RECIPIENT --in FILE'],
      ['--recipient', 'transit envelope encrypt --recipient RECIPIENT --in FILE'],
    ].map(([flag, command]): [string, string, string] => [
      `${flag} x`,
      `unknown option '${flag}'`,
      `did you mean "coffer ${command}"? see "coffer --help"`,
    ]),
    ...['get', 'set', 'unset'].map((word) => [
      word,
      `unknown command '${word}'`,
      `did you mean "coffer secrets ${word}"? see "coffer --help"`,
    ]),
    ['get keys', "unknown command 'get'", 'did you mean "coffer transit keys list"? see "coffer --help"'],
    [
      'export app',
      "unknown command 'export'",
      'did you mean "coffer transit keys export" or "coffer tags export"? see "coffer --help"',
    ],
    ...[
      ['secrets status', 'secrets list'],
      ['secrets run', 'exec'],
      ['secrets rm', 'secrets unset'],
      ['transit keys restore', 'transit keys soft-delete-restore'],
      ['tags merge', 'tags rename --merge'],
      ['secrets rekey', 'secrets rewrap'],
      ['share', 'team add'],
      ['team invite', 'team add'],
      ['team create', 'team init'],
    ].map(([line = '', own]): [string, string, string] => [
      `${line} x`,
      `unknown command '${line.split(' ').at(-1)}'`,
      `did you mean "coffer ${own}"? see "${['coffer', ...line.split(' ').slice(0, -1), '--help'].join(' ')}"`,
    ]),
    ...[
      ['workspaces list', '--no-tag', '--without-tag'],
      ['workspaces list', '--not-tag', '--without-tag'],
      ['transit keys read', '--all', '-o wide'],
      ['secrets decrypt', '--out', '--stdout'],
      ['doctor', '--fix', '--repair'],
      ['audit show audit.log', '--errors', '--failed'],
      ['audit show audit.log', '--denied', '--failed'],
      ['audit', '--errors', '"coffer audit show FILE --failed"'],
    ].map(([command, option, own]): [string, string, string] => [
      `${command} ${option}`,
      `unknown option '${option}'`,
      `did you mean ${own}? see "coffer ${command?.replace(' audit.log', '')} --help"`,
    ]),
    ['mounts ls', "unknown command 'ls'", 'did you mean "coffer mounts list"? see "coffer mounts --help"'],
  ])('that is a verb of other programs brings up our own: %s', async (line, message, hint) => {
    expect(await refusalOf(line)).toMatchObject({ kind: 'invalid', message, hint });
  });

  it.each([
    [
      'encrypt orders x',
      "unknown command 'encrypt'",
      'did you mean "coffer transit encrypt", "coffer secrets encrypt" or "coffer transit envelope encrypt"? see "coffer --help"',
    ],
    ['keys list', "unknown command 'keys'", 'did you mean "coffer transit keys"? see "coffer --help"'],
    [
      'backup',
      "unknown command 'backup'",
      'did you mean "coffer store backup" or "coffer transit backup"? see "coffer --help"',
    ],
  ])('that stands elsewhere brings up its place: %s', async (line, message, hint) => {
    expect(await refusalOf(line)).toMatchObject({ kind: 'invalid', message, hint });
  });

  it.each([
    [
      'transit encrpt',
      "unknown command 'encrpt'",
      'did you mean "coffer transit encrypt"? see "coffer transit --help"',
    ],
    ['verison', "unknown command 'verison'", 'did you mean "coffer version"? see "coffer --help"'],
  ])('with a slip in it brings up the word that was meant: %s', async (line, message, hint) => {
    expect(await refusalOf(line)).toMatchObject({ kind: 'invalid', message, hint });
  });

  it('that stands at the top is brought up with its whole path, not as the word that was typed', async () => {
    expect(await refusalOf('secrets doctor')).toMatchObject({
      hint: 'did you mean "coffer doctor"? see "coffer secrets --help"',
    });
  });

  it.each(['set x', 'patch transit/keys/orders', 'serve-workers', 'info', 'topics', 'constructor'])(
    'that could mean too much, or nothing, brings up nothing: %s',
    async (line) => {
      expect(await refusalOf(line)).toMatchObject({ kind: 'invalid', hint: 'see "coffer --help"' });
    },
  );

  it.each(['undo', 'rollback', 'transit keys undo'])(
    'for an undo brings up what can be undone: %s',
    async (line) => {
      expect(await refusalOf(line)).toMatchObject({
        hint: expect.stringMatching(
          /^no command undoes a change: use git for a file, "coffer transit keys reinstate KEY VERSION" for a revoked key version, /,
        ),
      });
    },
  );

  it.each(['recover', 'forgot', 'reset', 'passphrase reset', 'passphrase forgot'])(
    'for a lost passphrase says what else can unlock the store: %s',
    async (line) => {
      expect(await refusalOf(line)).toMatchObject({
        hint: expect.stringMatching(
          /^a forgotten passphrase cannot be reset; .*"coffer slots add --passphrase"; "coffer help unlocking"/,
        ),
      });
    },
  );

  it('before a file brings up the whole commands for such a file', async () => {
    const directory = temporaryDirectory();
    const [text, values] = ['f.txt', '.env'].map((name) => join(directory, name));
    for (const path of [text, values]) writeFileSync(path ?? '', 'A=1\n');
    const hintOf = async (line: string) => ((await refusalOf(line)) as CofferError).hint;
    expect(await hintOf(`encrypt ${text}`)).toBe(
      `did you mean "coffer transit envelope encrypt KEY ${text}"? see "coffer --help"`,
    );
    expect(await hintOf(`decrypt ${values}`)).toBe(
      `did you mean "coffer secrets decrypt ${values} --stdout" or "coffer transit envelope decrypt --in ${values}"? see "coffer --help"`,
    );
    expect(await hintOf(`encrypt orders ${text}`)).toBe(
      `did you mean "coffer transit envelope encrypt orders ${text}"? see "coffer --help"`,
    );
    expect(await hintOf(`encrypt orders ${values}`)).toBe(
      `did you mean "coffer secrets encrypt ${values} --key orders" or "coffer transit envelope encrypt orders ${values}"? see "coffer --help"`,
    );
    expect(await hintOf(`decrypt orders ${text}`)).toBe(
      `did you mean "coffer transit envelope decrypt --in ${text}"? see "coffer --help"`,
    );
    const two = 'transit envelope decrypt';
    expect(await hintOf(`${two} orders ${text}`)).toBe(
      `leave out the key, the file names it: "coffer ${two} --in ${text}"`,
    );
    expect(await hintOf(`${two} ${values} ${text}`)).toBe(`run "coffer ${two} --in ${values} ${text}"`);
    expect(await hintOf(`get ${values} A`)).toBe(
      `did you mean "coffer secrets get ${values} NAME"? see "coffer --help"`,
    );
    expect(await hintOf(`get ${text} A`)).toBe('see "coffer --help"');
  });

  it('never brings up a hidden one', async () => {
    expect(await refusalOf('transit complete')).toMatchObject({ hint: 'see "coffer transit --help"' });
  });
});

describe('a word too many', () => {
  it.each([
    [
      'transit envelope decrypt orders dump.sql',
      "too many arguments for 'decrypt'. Expected 1 argument but got 2: orders, dump.sql",
      'name a file with --in; see "coffer transit envelope decrypt --help"',
    ],
    [
      'transit keys config orders --deletion-allowed true',
      '--deletion-allowed takes no value',
      'leave out "true"; see "coffer transit keys config --help"',
    ],
    [
      'transit keys config orders --deletion-allowed false',
      '--deletion-allowed takes no value',
      'use --no-deletion-allowed; see "coffer transit keys config --help"',
    ],
    [
      'transit keys config orders --exportable false',
      '--exportable takes no value',
      'leave out "--exportable false"; see "coffer transit keys config --help"',
    ],
    [
      'transit keys read orders invoices',
      "too many arguments for 'read'. Expected 1 argument but got 2: orders, invoices",
      'see "coffer transit keys read --help"',
    ],
    [
      'transit encrypt orders 42 43',
      "too many arguments for 'encrypt'. Expected 2 arguments but got 3: orders, 42, 43",
      'quote a value that has spaces; see "coffer transit encrypt --help"',
    ],
  ])(
    'brings up --in where a file can be read, and says if it is the value of a switch: %s',
    async (line, message, hint) => {
      expect(await refusalOf(line)).toMatchObject({ kind: 'invalid', message, hint });
    },
  );
});

describe('a missing argument', () => {
  it.each([
    [
      'transit keys rotate',
      "missing required argument 'NAME'",
      'usage: coffer transit keys rotate NAME..., e.g. "coffer transit keys rotate orders"; see "coffer transit keys rotate --help"',
    ],
    [
      'transit keys read',
      "missing required argument 'NAME'",
      'usage: coffer transit keys read NAME, e.g. "coffer transit keys read orders"; see "coffer transit keys read --help"',
    ],
    [
      'store copy',
      "missing required argument 'FROM'",
      'usage: coffer store copy FROM TO, e.g. "coffer store copy ./store /mnt/backup/store"; see "coffer store copy --help"',
    ],
    [
      'transit encrypt',
      "missing required argument 'NAME'",
      `usage: coffer transit encrypt NAME [VALUE], e.g. "printf '4242' | coffer transit encrypt orders"; see "coffer transit encrypt --help"`,
    ],
    [
      'audit show',
      "missing required argument 'FILE'",
      'usage: coffer audit show FILE, e.g. "coffer audit show audit.log --since yesterday"; see "coffer audit show --help"',
    ],
    [
      'completion',
      "missing required argument 'SHELL'",
      'usage: coffer completion SHELL, e.g. "source <(coffer completion bash)"; see "coffer completion --help"',
    ],
  ])('brings up how the command is used: %s', async (line, message, hint) => {
    expect(await refusalOf(line)).toMatchObject({ kind: 'invalid', message, hint });
  });
});
