/**
 * Value that is returned synchronously if possible: an extra turn of the event loop costs more than a small encryption.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Continues with a value: at once if it is there, otherwise when its promise resolves. */
export function withValue<A, B>(value: MaybePromise<A>, next: (value: A) => Promise<B>): Promise<B>;
export function withValue<A, B>(value: MaybePromise<A>, next: (value: A) => MaybePromise<B>): MaybePromise<B>;
export function withValue<A, B>(
  value: MaybePromise<A>,
  next: (value: A) => MaybePromise<B>,
): MaybePromise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}
