/** Which part of a list is wanted. */
export interface PageRequest {
  /** From 1. A page past the end is empty, not an error. */
  readonly number: number;
  readonly size: number;
}

export interface Page<T> extends PageRequest {
  readonly items: readonly T[];
  /** Of all pages together. */
  readonly total: number;
}

export const offsetOf = ({ number, size }: PageRequest): number => (number - 1) * size;

/** The page of a list that is in memory as a whole. */
export const pageFrom = <T>(all: readonly T[], request: PageRequest): Page<T> => ({
  ...request,
  items: all.slice(offsetOf(request), offsetOf(request) + request.size),
  total: all.length,
});
