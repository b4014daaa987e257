/** Returns what work with a resource returns, and closes the resource in any case. */
export async function closing<R extends { close(): unknown } | undefined, T>(
  resource: R,
  work: (resource: R) => T | Promise<T>,
): Promise<T> {
  try {
    return await work(resource);
  } finally {
    await resource?.close();
  }
}
