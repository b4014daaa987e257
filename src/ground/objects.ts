/** An object of JSON: neither null nor an array. */
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
