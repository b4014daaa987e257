/** Whether a value is a JSON object: neither null nor an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members to spread into an object where a condition holds, which must see to it that none is undefined. */
export const when = <T extends object>(
  condition: boolean,
  members: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } =>
  (condition ? members : {}) as { readonly [K in keyof T]?: Exclude<T[K], undefined> };

type Defined<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** An object without its members that are undefined. */
export const defined = <T extends object>(members: T): Defined<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;

/**
 * JSON of whatever was sent, with long whole numbers as texts; empty for undefined. A replacer would make it slow for every value, and hardly
 * any has one.
 */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(withoutBigInt(value));
  }
}

function withoutBigInt(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(withoutBigInt);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutBigInt(member)]));
}
