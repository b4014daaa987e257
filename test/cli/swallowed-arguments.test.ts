import { describe, expect, it } from 'vitest';
import { type Command, type Group, isGroup } from '../../src/cli/command.ts';
import { parseQuickly } from '../../src/cli/parse/fast-path.ts';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { asCofferError } from '../../src/ground/errors.ts';
import { streamsDouble } from './streams.double.ts';

/** All commands, each with its words. */
async function commands(
  group: Group = commandTree,
  path: readonly string[] = [],
): Promise<readonly (readonly [readonly string[], Command])[]> {
  const found = await Promise.all(
    Object.entries(group.children).map(async ([word, node]) =>
      isGroup(node) ? commands(node, [...path, word]) : [[[...path, word], await node.load()] as const],
    ),
  );
  return found.flat();
}

async function hintOf(argv: readonly string[]): Promise<string> {
  const error = await parseWithCommander(argv, commandTree, streamsDouble()).catch(
    (thrown: unknown) => thrown,
  );
  return asCofferError(error)?.hint ?? 'no error';
}

/** The first command in quotation marks in a hint, as words after `coffer`. */
const commandIn = (hint: string): readonly string[] =>
  (/"coffer ([^"]*)"; see/.exec(hint)?.[1] ?? '').split(' ');

describe('an option that takes several values, before a required argument', () => {
  it('is said to have taken it, with a command that is complete, whichever command it is', async () => {
    let cases = 0;
    for (const [path, command] of await commands()) {
      const required = command.arguments.filter((argument) => argument.required).map((_, at) => `word${at}`);
      for (const { flag } of command.options.filter(({ takes }) => takes === 'values')) {
        if (required.length === 0) continue;
        cases += 1;
        const line = [...path, `--${flag}`, 'value', ...required];
        const hint = await hintOf(line);
        expect(hint, line.join(' ')).toContain(
          `--${flag} took ${required.map((word) => `"${word}"`).join(' and ')} as well; put `,
        );
        const corrected = commandIn(hint);
        expect(corrected, line.join(' ')).toEqual([...path, ...required, `--${flag}`, 'value']);
        expect((await parseQuickly(corrected, commandTree))?.given.arguments, line.join(' ')).toEqual(
          required,
        );
      }
    }
    expect(cases).toBeGreaterThan(10);
  });

  it('keeps the options around it', async () => {
    expect(await hintOf('--org acme tags attach --workspace billing env:prod --key app'.split(' '))).toBe(
      '--workspace took "env:prod" as well; put TAG first: ' +
        '"coffer --org acme tags attach env:prod --workspace billing --key app"; see "coffer tags attach --help"',
    );
  });

  it('is not to blame if it has a single value', async () => {
    expect(await hintOf('tags attach --workspace billing'.split(' '))).toMatch(
      /^usage: coffer tags attach TAG/,
    );
  });
});
