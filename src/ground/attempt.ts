/** Returns undefined if looking fails, for whatever reason: the caller goes on without an answer. */
export function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
