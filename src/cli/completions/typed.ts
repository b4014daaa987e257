import { type Command, type Group, isGroup, takesWord } from '../command.ts';
import type { OptionValue } from '../given.ts';
import { everywhereOptions } from '../parse/everywhere.ts';
import { notations } from './model.ts';

/** Command line that is being typed. */
export interface TypedLine {
  readonly command: Command;
  readonly arguments: readonly string[];
  /** Options with a value. */
  readonly options: ReadonlyMap<string, OptionValue>;
}

/**
 * Returns the command line before the word that is being completed; undefined before its command is complete.
 * @param words from `coffer` on, the last one being completed
 */
export async function typedLine(tree: Group, words: readonly string[]): Promise<TypedLine | undefined> {
  let place: Group = tree;
  let command: Command | undefined;
  const found: string[] = [];
  const options = new Map<string, OptionValue>();
  const before = words.slice(1, -1);
  for (let at = 0; at < before.length; at += 1) {
    const word = before[at] ?? '';
    if (word.startsWith('-') && word !== '-') {
      const [notation = '', ...value] = word.split('=');
      const spec = [...everywhereOptions, ...(command?.options ?? [])].find((option) =>
        notations(option).includes(notation),
      );
      if (spec === undefined || !takesWord(spec)) continue;
      if (value.length === 0) at += 1;
      options.set(spec.flag, value.length === 0 ? (before[at] ?? '') : value.join('='));
    } else if (command !== undefined) found.push(word);
    else {
      const child = Object.hasOwn(place.children, word) ? place.children[word] : undefined;
      if (child === undefined) return undefined;
      if (isGroup(child)) place = child;
      else command = await child.load();
    }
  }
  return command && { command, arguments: found, options };
}
