import { notations, type Place, quoted, type Values, valuesOf } from './model.ts';

/** Shell functions that bash and zsh understand alike: those by which their completion looks things up in tables. */
export function tables(places: readonly Place[]): string {
  return [childrenTable(places), flagsTable(places), valuesTable(places), argumentsTable(places), MANY].join(
    '\n',
  );
}

/** Prints what an argument can be that may be repeated up to a position. */
const MANY = `_coffer_many() {
  local at=$2
  while ((at >= 0)); do
    _coffer_argument "$1" "$at+" && return
    at=$((at - 1))
  done
  return 1
}
`;

/**
 * Goes through the words of a command line: `place` becomes the command that they name, `position` how many arguments follow it, and
 * `skip` the option whose value comes next, if any.
 * @param words as the shell writes the list of them.
 */
export const walk = (words: string): string => `  for word in ${words}; do
    if [[ -n $skip ]]; then skip=''; continue; fi
    if [[ $word == -* ]]; then
      _coffer_values "$place" "$word" >/dev/null && skip=$word
    elif _coffer_children "\${place:+$place }$word" >/dev/null; then
      place=\${place:+$place }$word
    else
      position=$((position + 1))
    fi
  done`;

/** Prints what can follow a place, or fails when the words name no place. */
const childrenTable = (places: readonly Place[]): string =>
  table('_coffer_children', '"$1"', [
    ...places.map(({ path, children }) => [path, children.map(({ word }) => word).join(' ')] as const),
  ]);

const flagsTable = (places: readonly Place[]): string =>
  table('_coffer_flags', '"$1"', [
    ...places.map(({ path, options }) => [path, options.flatMap(notations).join(' ')] as const),
  ]);

/** Prints what the value of an option can be, or fails when it has none. */
const valuesTable = (places: readonly Place[]): string =>
  table(
    '_coffer_values',
    '"$1|$2"',
    places.flatMap(({ path, options }) =>
      options
        .filter(({ takes }) => takes === 'value' || takes === 'values')
        .flatMap((option) =>
          notations(option).map(
            (notation) => [`${path}|${notation}`, printValues(valuesOf(option))] as const,
          ),
        ),
    ),
  );

/** Prints what the argument at a position (from 0) can be. */
const argumentsTable = (places: readonly Place[]): string =>
  table(
    '_coffer_argument',
    '"$1|$2"',
    places.flatMap(({ path, arguments: specs }) =>
      specs.map(
        (spec, index) => [`${path}|${index}${spec.many ? '+' : ''}`, printValues(valuesOf(spec))] as const,
      ),
    ),
  );

function printValues(values: Values): string {
  if (values.kind === 'words') return `words ${values.words.join(' ')}`;
  return values.kind === 'names' ? `names ${values.of}` : values.kind;
}

/** Entries with the same answer share a line. */
function table(name: string, subject: string, entries: readonly (readonly [string, string])[]): string {
  const byAnswer = new Map<string, string[]>();
  for (const [key, answer] of entries) byAnswer.set(answer, [...(byAnswer.get(answer) ?? []), key]);
  const cases = [...byAnswer].map(
    ([answer, keys]) => `    ${keys.map(quoted).join('|')}) echo ${quoted(answer)} ;;`,
  );
  return `${name}() {\n  case ${subject} in\n${cases.join('\n')}\n    *) return 1 ;;\n  esac\n}\n`;
}
