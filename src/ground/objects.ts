/** JSON object whose members are not validated yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: neither null nor an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns a value without the undefined members of its objects, as JSON would transmit it. A value without such members
 * is not copied.
 */
export function withoutUndefined<T>(value: T): T {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value.map(withoutUndefined);
    return items.every((item, index) => item === value[index]) ? value : (items as T);
  }
  if (!isPlain(value)) return value;
  const members = Object.entries(value);
  const kept = members.flatMap(([name, member]) =>
    member === undefined ? [] : [[name, withoutUndefined(member)] as const],
  );
  const isSame =
    kept.length === members.length && kept.every(([, member], at) => member === members[at]?.[1]);
  return isSame ? value : (Object.fromEntries(kept) as T);
}

/** Other objects, such as buffers and keys, stay unchanged. */
const isPlain = (value: unknown): value is object => {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/**
 * Serializes any JSON value, long integers as texts; empty for undefined. A replacer would slow down every value, and
 * hardly any contains one.
 */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member));
  }
}

/** Puts an entry at the end of a map, and removes the first ones beyond a number. */
export function setAmong<K, V>(map: Map<K, V>, most: number, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
  for (const first of map.keys()) {
    if (map.size <= most) return;
    map.delete(first);
  }
}

/** Returns the value of a key, and makes it on the first call. */
export function madeOnce<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
