import { describe, expect, it } from 'vitest';
import { type Group, isGroup } from '../../src/cli/command.ts';
import { parseQuickly } from '../../src/cli/parse/fast-path.ts';
import { pipedExample } from '../../src/cli/parse/mistakes.ts';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { commandTree } from '../../src/cli/tree.ts';
import type { CofferError } from '../../src/ground/errors.ts';
import { streamsDouble } from './streams.double.ts';

/** Commands whose first argument is a file that must be named, and may be "-". */
async function takingStandardInput(group: Group = commandTree, path: readonly string[] = []) {
  const found: { path: readonly string[]; example: string | undefined; isRequired: boolean }[] = [];
  for (const [word, node] of Object.entries(group.children)) {
    const inner = [...path, word];
    if (isGroup(node)) found.push(...(await takingStandardInput(node, inner)));
    else {
      const command = await node.load();
      const [first] = command.arguments;
      if (first?.offers === 'file' && first.help.includes('"-" reads standard input'))
        found.push({ path: inner, example: pipedExample(inner, command), isRequired: first.required });
    }
  }
  return found;
}

const refusalOf = async (path: readonly string[], input: string): Promise<CofferError> =>
  parseWithCommander([...path], commandTree, streamsDouble({ input })).then(
    () => expect.fail(`${path.join(' ')} was parsed`),
    (error: CofferError) => error,
  );

describe('a command without the file that it needs', () => {
  it('names the command that reads standard input if that is a pipe or a file', async () => {
    const commands = await takingStandardInput();
    expect(commands.map(({ path }) => path.join(' '))).toEqual(
      expect.arrayContaining([
        'secrets decrypt',
        'secrets encrypt',
        'store verify',
        'audit show',
        'sign',
        'verify',
        'tags apply',
        'tags import',
      ]),
    );
    for (const { path, example = '', isRequired } of commands) {
      expect(example).toMatch(new RegExp(`^coffer ${path.join(' ')} -( |$)`));
      const [, ...words] = example.split(' ');
      expect(await parseQuickly(words, commandTree), example).toMatchObject({ path });
      if (!isRequired) continue;
      expect((await refusalOf(path, 'A=1\n')).hint).toMatch(
        new RegExp(`^to read standard input: "${example}"; usage: coffer ${path.join(' ')} FILE`),
      );
      expect((await refusalOf(path, '')).hint).toMatch(/^usage: /);
    }
  });

  it('does not name standard input where it is not accepted', async () => {
    for (const line of ['secrets rewrap', 'secrets get', 'edit', 'store backup'])
      expect((await refusalOf(line.split(' '), 'A=1\n')).hint, line).toMatch(/^usage: /);
  });
});
