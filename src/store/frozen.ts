/** Parses JSON to immutable objects, which many callers can share. */
export function parseFrozen(json: string): unknown {
  return freeze(JSON.parse(json));
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
