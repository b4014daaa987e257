import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Group, isGroup, nodeAt } from '../../src/cli/command.ts';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { commandTree } from '../../src/cli/tree.ts';
import type { CofferError } from '../../src/ground/errors.ts';
import { temporaryDirectory } from '../store/temporary-store.ts';
import { streamsDouble } from './streams.double.ts';

const refusalOf = (line: string): Promise<unknown> =>
  parseWithCommander(line.split(' '), commandTree, streamsDouble()).catch((error: unknown) => error);

/** Paths of all groups, the root included. */
function groups(group: Group = commandTree, path: readonly string[] = []): readonly (readonly string[])[] {
  const inner = Object.entries(group.children).flatMap(([word, node]) =>
    isGroup(node) ? groups(node, [...path, word]) : [],
  );
  return [path, ...inner];
}

describe('--policy, as token create has it', () => {
  it('means --token-policies for the roles and users of every login method', async () => {
    for (const line of ['approle write r', 'userpass write bob', 'jwt write r', 'cert write r'])
      expect(
        await parseWithCommander(
          [...`auth ${line}`.split(' '), '--policy', 'x'],
          commandTree,
          streamsDouble(),
        ),
        line,
      ).toMatchObject({ invocation: { given: { options: new Map([['token-policies', ['x']]]) } } });
  });
});

describe('an unknown command with --help', () => {
  it('is refused as without it, at the top and within every group', async () => {
    for (const path of groups()) {
      for (const flag of ['--help', '-h']) {
        const line = [...path, 'no-such-command', flag].join(' ');
        expect(await refusalOf(line), line).toMatchObject({
          message: "unknown command 'no-such-command'",
          hint: `see "${['coffer', ...path, '--help'].join(' ')}"`,
        });
      }
    }
    for (const line of ['encrypt', 'transit keys rm', 'workspaces rename ws1 ws9', 'undo', 'keys list']) {
      const plain = (await refusalOf(line)) as CofferError;
      for (const asking of [`${line} --help`, `--no-color ${line} -h`])
        expect(await refusalOf(asking), asking).toMatchObject({ message: plain.message, hint: plain.hint });
    }
  });

  it('does not hide the help of what exists', async () => {
    for (const line of [
      '--help',
      '-h transit',
      'transit --help',
      'transit help',
      '--store x transit keys -h',
    ])
      expect(await parseWithCommander(line.split(' '), commandTree, streamsDouble()), line).toMatchObject({
        kind: 'print',
        text: expect.stringMatching(/^Usage: coffer/),
      });
  });
});

describe('an unknown command that takes two steps or options here', () => {
  it.each([
    ['secrets rotate .env', 'use "coffer transit keys rotate KEY", then "coffer secrets rewrap FILE"'],
    ...['cat', 'view'].map((word): [string, string] => [
      `secrets ${word} .env`,
      'use "coffer secrets get FILE NAME" for one value, "coffer secrets list FILE" for the names, or "coffer secrets decrypt FILE --stdout" for the whole file',
    ]),
    ['workspaces rename a b', 'use "coffer workspaces update WS --name NAME"'],
    ['projects rename a b', 'use "coffer projects update PROJECT --name NAME"'],
    ['orgs rename a b', 'use "coffer orgs update ORG --name NAME"'],
    ['audit errors', 'use "coffer audit show FILE --failed"'],
  ])('brings up the whole commands: %s', async (line, instead) => {
    const help = ['coffer', line.split(' ')[0], '--help'].join(' ');
    expect(await refusalOf(line)).toMatchObject({ hint: `${instead}; see "${help}"` });
    for (const [, command = ''] of instead.matchAll(/"coffer ([a-z -]+)/g)) {
      const words = command.trim().split(' --', 1).join('').split(' ');
      expect(nodeAt(commandTree, words), command).toBeDefined();
    }
  });
});

describe('a word for reading at the top', () => {
  it.each(['get', 'show'])('means a key, or a value of a file: %s', async (word) => {
    expect(await refusalOf(`${word} orders`)).toMatchObject({
      hint: 'did you mean "coffer transit keys read orders" or "coffer secrets get FILE NAME"? see "coffer --help"',
    });
  });

  it('means all values of a file whose values can be encrypted', async () => {
    const file = join(temporaryDirectory(), '.env');
    writeFileSync(file, 'A=b\n');
    expect(await refusalOf(`show ${file}`)).toMatchObject({
      hint: `did you mean "coffer secrets list ${file}" or "coffer secrets decrypt ${file} --stdout"? see "coffer --help"`,
    });
  });
});

const STORE = 'the location of a store belongs in --store or COFFER_STORE; ';

describe('a word too many', () => {
  it.each([
    ['init postgres://ada:secret@db/keys', 'init', ['0 arguments', '1'], STORE],
    ['init ada:secret@db/keys', 'init', ['0 arguments', '1'], STORE],
    ['transit keys list x password=secret', 'list', ['0 arguments', '2'], STORE],
    ['transit encrypt orders 42 ada:secret@db', 'encrypt', ['2 arguments', '3'], ''],
  ])(
    'is not repeated if it may be an address with a password: %s',
    async (line, word, [most, given], hint) => {
      const error = await refusalOf(line);
      expect(error).toMatchObject({
        kind: 'invalid',
        message: `too many arguments for '${word}'. Expected ${most} but got ${given}`,
        hint: expect.stringMatching(new RegExp(`^${hint}see "coffer .*${word} --help"$`)),
      });
      expect(JSON.stringify(error)).not.toContain('secret');
    },
  );
});
