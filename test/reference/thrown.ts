/** What `attempt` throws, so that a test can look at kind and message together. */
export function thrownBy(attempt: () => unknown): unknown {
  try {
    attempt();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** The same for a promise. */
export async function rejectionOf(attempt: Promise<unknown>): Promise<unknown> {
  return attempt.then(
    () => {
      throw new Error('nothing was thrown');
    },
    (error: unknown) => error,
  );
}
