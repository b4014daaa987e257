import type { OptionValue } from '../given.ts';
import { shellWord } from './shell-word.ts';

/** Replaces parameter names of the API in a text, also those in single quotes, by their flags. */
export const inFlags = (text: string, labelOf: (field: string) => string | undefined): string =>
  text.replace(/[\w"'/]+/g, (word) => {
    const [, , field] = /^('?)([a-z]+(?:_[a-z]+)+)\1$/.exec(word) ?? [];
    return (field === undefined ? undefined : labelOf(field)) ?? word;
  });

/** Options that determine which objects a command works on, with the commands that have such objects; default: all. */
const PLACES: readonly (readonly [flag: string, words?: ReadonlySet<string>])[] = [
  ['store'],
  ['address'],
  ['mount', new Set(['transit'])],
  ['org', new Set(['tags', 'workspaces', 'projects'])],
];
/** Words before a command, in quotation marks, that a hint says to run. */
const BEFORE_COMMAND = /\b(?:run|with|use|see) $/;
/** Commands that depend on no place, or name one. */
const PLACELESS = /^coffer (?:help|keygen|serve|team|version)\b|--(?:help|store|address)\b/;
/** Commands that work on a store itself, and refuse `--address`; their help is the same everywhere. */
const LOCAL =
  /^coffer (?:agent|doctor|init|lock|passphrase|rekey|slots|store|unlock)\b(?!.*--(?:help|store)\b)/;

/**
 * Adds the options that name a place to the commands of a hint, which would otherwise look elsewhere. With a server,
 * commands that work on a store itself are for the machine of the server.
 * @param everywhere options of the command that gives the hint
 */
export function inSamePlace(hint: string, everywhere: ReadonlyMap<string, OptionValue> | undefined): string {
  if (everywhere === undefined || everywhere.size === 0) return hint;
  const parts = hint.split('"');
  const isRemote = everywhere.has('address');
  return parts
    .map((part, at) => {
      const before = parts[at - 1] ?? '';
      const isSuggested = at % 2 === 1 && part.startsWith('coffer ') && BEFORE_COMMAND.test(before);
      if (!isSuggested || PLACELESS.test(part)) {
        const isLocal = at > 1 && isRemote && LOCAL.test(before) && BEFORE_COMMAND.test(parts[at - 2] ?? '');
        return isLocal ? ` on the server${part}` : part;
      }
      if (isRemote && LOCAL.test(part)) return part;
      const [, word = ''] = part.split(' ', 2);
      const options = PLACES.flatMap(([flag, words]) => {
        const value = everywhere.get(flag);
        const isMeant = words?.has(word) !== false && !part.includes(` --${flag} `);
        return isMeant && typeof value === 'string' && value !== '' ? [`--${flag} ${shellWord(value)}`] : [];
      });
      return [part, ...options].join(' ');
    })
    .join('"');
}
