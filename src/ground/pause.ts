/**
 * Waiting, without `node:timers/promises`: that module brings others along, and these lie on the way of every command.
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
