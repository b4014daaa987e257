import type { Chance } from '../chance.ts';
import { anyText, spoiledText } from './mutation.ts';

/** JSON values: right ones that are spoiled, and ones that come from nowhere. */

const SCALARS: readonly unknown[] = [
  ...[null, true, false, 0, -0, 1, -1, 1.5, 1e21, 1e308, 2 ** 31, 2 ** 53, -(2 ** 53), 5e-324],
  ...[
    9007199254740993n,
    10n ** 30n,
    '',
    [],
    {},
    [[]],
    [{}],
    { length: -1 },
    { toString: 1 },
    { valueOf: null },
  ],
];
/** Beyond what JSON bodies may have. */
const DEEPEST = 400;

/** A value of any kind. */
export function anyValue(chance: Chance, depth = 3): unknown {
  if (depth === 0 || chance.oneIn(2)) return chance.oneIn(2) ? chance.pick(SCALARS) : anyText(chance);
  if (chance.oneIn(200)) return deepValue(chance.below(DEEPEST));
  if (chance.oneIn(2)) return Array.from({ length: chance.size(6) }, () => anyValue(chance, depth - 1));
  return Object.fromEntries(
    Array.from({ length: chance.size(5) }, () => [anyText(chance), anyValue(chance, depth - 1)]),
  );
}

function deepValue(depth: number): unknown {
  let value: unknown = 0;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

/** A value that is like `value`, but not quite: one place of it is changed. */
export function spoiledValue(chance: Chance, value: unknown): unknown {
  if (chance.oneIn(8)) return anyValue(chance);
  if (Array.isArray(value)) return spoiledArray(chance, value);
  if (typeof value === 'object' && value !== null) {
    return spoiledObject(chance, value as Readonly<Record<string, unknown>>);
  }
  if (typeof value === 'string') return chance.oneIn(6) ? anyValue(chance, 1) : spoiledText(chance, value);
  if (typeof value === 'bigint' && !chance.oneIn(3))
    return value + chance.pick([1n, -1n, 2n, 2n ** 64n, -value]);
  if (typeof value === 'number' && !chance.oneIn(3)) return value + chance.pick([1, -1, 0.5, 2 ** 32]);
  return chance.oneIn(2) && typeof value === 'boolean' ? !value : anyValue(chance, 1);
}

function spoiledArray(chance: Chance, items: readonly unknown[]): unknown {
  const at = chance.below(items.length + 1);
  if (at === items.length || chance.oneIn(6))
    return [...items.slice(0, at), anyValue(chance), ...items.slice(at)];
  if (chance.oneIn(6)) return items.filter((_, index) => index !== at);
  if (chance.oneIn(6)) return [...items, ...items.slice(at)];
  return items.map((item, index) => (index === at ? spoiledValue(chance, item) : item));
}

function spoiledObject(chance: Chance, object: Readonly<Record<string, unknown>>): unknown {
  const members = Object.entries(object);
  const at = chance.below(members.length);
  const [name = '', value] = members[at] ?? [];
  const way = members.length === 0 ? 0 : chance.below(10);
  if (way === 0) members.push([anyText(chance), anyValue(chance)]);
  else if (way === 1) members.splice(at, 1);
  else if (way === 2) members[at] = [anyText(chance), value];
  else members[at] = [name, spoiledValue(chance, value)];
  // Not by assignment: `__proto__` is to be a member as any other.
  return Object.fromEntries(members);
}

/** JSON text of a value, bigints as bare digits. */
export function printValue(value: unknown): string {
  const text = JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? `<big>${member}` : member,
  );
  return (text ?? 'null').replace(/"<big>(-?\d+)"/g, '$1');
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** The value of a JSON text, with bigints for whole numbers that a double does not hold. */
export const parseValue = (text: string): unknown =>
  parse(text, (_name, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value,
  );

/** A few more spoiled places than one, now and then. */
export function spoiledDeeply(chance: Chance, value: unknown): unknown {
  let spoiled = value;
  for (let changes = 1 + chance.size(2); changes > 0; changes--) spoiled = spoiledValue(chance, spoiled);
  return spoiled;
}
