/** Returns another value if looking fails, for whatever reason: the caller goes on without an answer. */
export function attempt<T>(look: () => T): T | undefined;
export function attempt<T, O>(look: () => T, otherwise: O): T | O;
export function attempt<T, O>(look: () => T, otherwise?: O): T | O | undefined {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
