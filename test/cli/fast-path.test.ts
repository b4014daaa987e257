import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Command,
  type Group,
  type Invocation,
  isGroup,
  type OptionSpec,
} from '../../src/cli/command.ts';
import { everywhereOptions } from '../../src/cli/parse/everywhere.ts';
import { parseQuickly } from '../../src/cli/parse/fast-path.ts';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { CofferError } from '../../src/ground/errors.ts';
import { streamsDouble } from './streams.double.ts';

interface Place {
  readonly path: readonly string[];
  readonly command: Command;
}

const commands: Place[] = [];

async function collect(group: Group, path: readonly string[]): Promise<void> {
  for (const [word, node] of Object.entries(group.children)) {
    if (isGroup(node)) await collect(node, [...path, word]);
    else commands.push({ path: [...path, word], command: await node.load() });
  }
}

beforeAll(() => collect(commandTree, []));

/** What a parser made of a command line: comparable, or the message that it refuses with. */
async function outcomeOf(parse: () => Promise<Invocation | undefined>): Promise<unknown> {
  try {
    const invocation = await parse();
    if (invocation === undefined) return undefined;
    const { path, given, everywhere } = invocation;
    return {
      path,
      arguments: given.arguments,
      options: [...given.options].sort(),
      everywhere: [...everywhere].sort(),
    };
  } catch (error) {
    if (error instanceof CofferError) return error.message;
    throw error;
  }
}

const quickly = (argv: readonly string[]) => outcomeOf(() => parseQuickly(argv, commandTree));

const thoroughly = (argv: readonly string[]) =>
  outcomeOf(async () => {
    const outcome = await parseWithCommander(argv, commandTree, streamsDouble());
    return outcome.kind === 'run' ? outcome.invocation : undefined;
  });

const text = fc.constantFrom('x', 'orders', '-', '', '7', '-7', 'a=b', 'keys', 'ä', '--store', '-o', '--');

const optionOf = (option: OptionSpec): fc.Arbitrary<string[]> => {
  const long = `--${option.flag}`;
  const forms: fc.Arbitrary<string[]>[] = [fc.constant([long]), text.map((value) => [`${long}=${value}`])];
  if (option.takes !== 'nothing') forms.push(text.map((value) => [long, value]));
  if (option.takes === 'values') forms.push(fc.tuple(text, text).map(([a, b]) => [long, a, b]));
  if (option.short !== undefined) {
    const short = `-${option.short}`;
    forms.push(
      fc.constant([short]),
      text.map((value) => [short, value]),
      text.map((value) => [`${short}${value}`]),
    );
  }
  return fc.oneof(...forms);
};

const odd = fc.constantFrom(
  '--help',
  '-h',
  '--version',
  '--no-such-option',
  '--',
  '-qy',
  '-x',
  '--out=',
  '---',
);

function commandLine({ path, command }: Place): fc.Arbitrary<string[]> {
  const option = fc.constantFrom(...command.options, ...everywhereOptions).chain(optionOf);
  const shared = fc.constantFrom(...everywhereOptions).chain(optionOf);
  const rest = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: option },
      { weight: 4, arbitrary: text.map((word) => [word]) },
      { weight: 1, arbitrary: odd.map((word) => [word]) },
    ),
    { maxLength: 6 },
  );
  const before = fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: shared });
  return fc.tuple(before, rest).map(([first, others]) => [...first, ...path, ...others.flat()]);
}

describe('parseQuickly', () => {
  it('parses as commander does every command line that it does not leave to commander', async () => {
    let decided = 0;
    const line = fc.constantFrom(...commands.map((_, index) => index)).chain((index) => {
      const place = commands[index];
      return place === undefined ? fc.constant<string[]>([]) : commandLine(place);
    });
    await fc.assert(
      fc.asyncProperty(line, async (argv) => {
        const quick = await quickly(argv);
        if (quick === undefined) return;
        decided++;
        expect(await thoroughly(argv)).toEqual(quick);
      }),
      { numRuns: 1500 },
    );
    expect(decided).toBeGreaterThan(200);
  });

  it.each([
    [
      'an ordinary command line',
      ['transit', 'keys', 'trim', 'orders', '--min-available-version', '3', '-y'],
      true,
    ],
    ['options before the command', ['--store', 'x', 'transit', '-o', 'json', 'keys', 'trim', 'orders'], true],
    ['a value beside its flag', ['tags', 'list', '--org=acme'], true],
    ['names behind two dashes, as git gives them', ['secrets', 'git-textconv', '--', '-a.env'], true],
    ['a request for help', ['transit', 'keys', 'trim', '--help'], false],
    ['no command', [], false],
    ['half a command', ['transit', 'keys'], false],
    ['a command that there is not', ['transit', 'kees'], false],
    ['a missing argument', ['transit', 'keys', 'trim'], false],
    ['the first of two words that both must be', ['tags', 'rename', 'x'], false],
    ['an argument too many', ['transit', 'keys', 'trim', 'a', 'b'], false],
    ['an option that there is not', ['transit', 'keys', 'trim', 'a', '--frce'], false],
  ])('takes over %s, given as %j: %s', async (_, argv, decides) => {
    expect((await quickly(argv)) !== undefined).toBe(decides);
  });

  it('takes the words after a repeatable option up to the next option', async () => {
    expect(
      await quickly(['tags', 'attach', 'a', '--workspace', 'b', 'c', '--org', 'd', '--workspace', 'e']),
    ).toEqual({
      path: ['tags', 'attach'],
      arguments: ['a'],
      options: [['workspace', ['b', 'c', 'e']]],
      everywhere: [['org', 'd']],
    });
  });

  it('lets what stands after the command win over what stands before it', async () => {
    const outcome = await quickly(['--org', 'outer', 'tags', 'list', '--org', 'inner']);
    expect(outcome).toMatchObject({ options: [['org', 'inner']], everywhere: [['org', 'inner']] });
  });

  it.each([
    [['status', '--store', 'a', '--address', 'b'], '--store cannot be used with --address'],
    [['--address', 'a', 'status', '--store', 'b'], '--store cannot be used with --address'],
    [['tags', 'list', '--all', '--page', '2'], '--all cannot be used with --page'],
  ])('refuses options that exclude each other, as commander does: %j', async (argv, message) => {
    expect(await quickly(argv)).toBe(message);
    expect(await thoroughly(argv)).toBe(message);
  });
});
