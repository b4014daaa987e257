/**
 * Waiting, without `node:timers/promises` and `util.promisify`: those modules bring others along, and these lie on the way of
 * every command.
 */

/** Resolves after `milliseconds`. */
export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** Lets other work of the process have its turn. */
export const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** What a function of Node's answers to a callback. */
export const answered = <T = void>(
  call: (done: (error: Error | null, answer?: T) => void) => void,
): Promise<T> =>
  new Promise((resolve, reject) => {
    call((error, answer) => (error ? reject(error) : resolve(answer as T)));
  });
