import { type ArgumentSpec, type CommandSpec, type Group, isGroup, type OptionSpec } from '../command.ts';
import { everywhereBeside, everywhereOptions } from '../parse/everywhere.ts';

/** Node of the command tree, with everything that can be typed there. */
export interface CommandPlace {
  /** Words after `coffer`, separated by spaces; empty for the root. */
  readonly path: string;
  readonly summary: string;
  /** Command; undefined for a group. */
  readonly command?: CommandSpec;
  readonly children: readonly { readonly word: string; readonly summary: string }[];
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
}

/** Possible completions of a value. */
export type CompletionValues =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Names that `coffer complete KIND` prints. */
  | { readonly kind: 'names'; readonly of: string }
  | { readonly kind: 'files' }
  | { readonly kind: 'directories' }
  | { readonly kind: 'programs' }
  | { readonly kind: 'unknown' };

const HELP: OptionSpec = { flag: 'help', short: 'h', takes: 'nothing', help: 'Show help.' };

/** Returns all nodes that are not hidden, groups before their children. Loads every declaration. */
export async function placesOf(tree: Group, path: readonly string[] = []): Promise<CommandPlace[]> {
  const visible = Object.entries(tree.children).filter(([, node]) => isGroup(node) || node.hidden !== true);
  const here: CommandPlace = {
    path: path.join(' '),
    summary: tree.summary,
    children: visible.map(([word, { summary }]) => ({ word, summary })),
    arguments: [],
    options: [...everywhereOptions, HELP],
  };
  const below: CommandPlace[] = [];
  for (const [word, node] of visible) {
    const inner = [...path, word];
    if (isGroup(node)) {
      below.push(...(await placesOf(node, inner)));
      continue;
    }
    const command = await node.load();
    below.push({
      path: inner.join(' '),
      summary: node.summary,
      command,
      children: [],
      arguments: command.arguments,
      options: [...command.options, ...everywhereBeside(command.options), HELP],
    });
  }
  return [here, ...below];
}

export function valuesOf(spec: ArgumentSpec | OptionSpec): CompletionValues {
  if (spec.offers === 'file') return { kind: 'files' };
  if (spec.offers === 'directory') return { kind: 'directories' };
  if (spec.offers === 'program') return { kind: 'programs' };
  if (spec.offers !== undefined) return { kind: 'names', of: spec.offers };
  return spec.choices === undefined ? { kind: 'unknown' } : { kind: 'words', words: spec.choices };
}

/** Returns the spellings of an option: `--output`, `-o`. */
export const notations = ({ flag, short }: OptionSpec): readonly string[] =>
  short === undefined ? [`--${flag}`] : [`--${flag}`, `-${short}`];

/** Command whose arguments are the words of another one. */
export const HELP_COMMAND = 'help';
