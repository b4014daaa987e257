/** Parsed JSON that nobody can change, so that it may be handed to many. */
export function parseFrozen(json: string): unknown {
  return freeze(JSON.parse(json));
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
