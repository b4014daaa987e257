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

/** Converts a Node function with a callback to a promise. */
export const answered = <T = void>(
  call: (done: (error: Error | null, answer?: T) => void) => void,
): Promise<T> =>
  new Promise((resolve, reject) => {
    call((error, answer) => (error ? reject(error) : resolve(answer as T)));
  });
