/**
 * Waiting without `node:timers/promises` and `util.promisify`: those modules load others, and these are in the path of
 * every command.
 */

/** Resolves after `milliseconds`. */
export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** Yields to other work of the process. */
export const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/**
 * Waits for `work` with a time limit; `work` continues if it takes longer.
 * @param late returns or throws the outcome then
 */
export async function inTime<T, L>(
  work: Promise<T>,
  milliseconds: number,
  late: () => L | Promise<L>,
): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, milliseconds));
  try {
    return await Promise.race([work, promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Converts a Node function with a callback to a promise. */
export const answered = <T = void>(
  call: (done: (error: Error | null, answer?: T) => void) => void,
): Promise<T> =>
  new Promise((resolve, reject) => {
    call((error, answer) => (error ? reject(error) : resolve(answer as T)));
  });
