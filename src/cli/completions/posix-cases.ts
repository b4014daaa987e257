import { notations, type Place, quoted, type Values, valuesOf } from './model.ts';

/** Shell functions that bash and zsh understand alike: the tables that their completion looks things up in. */
export function tables(places: readonly Place[]): string {
  return [childrenTable(places), flagsTable(places), valuesTable(places), argumentsTable(places)].join('\n');
}

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
