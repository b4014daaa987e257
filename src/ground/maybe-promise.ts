/**
 * Value that is returned synchronously if possible: an extra turn of the event loop costs more than a small encryption.
 */
export type MaybePromise<T> = T | Promise<T>;
