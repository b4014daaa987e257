/** An object of JSON: neither null nor an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members to spread into an object where a condition holds, which must see to it that none is undefined. */
export const when = <T extends object>(
  condition: boolean,
  members: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } =>
  (condition ? members : {}) as { readonly [K in keyof T]?: Exclude<T[K], undefined> };
