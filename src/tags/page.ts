/** Requested page of a list. */
export interface PageRequest {
  /** Starts at 1. A page after the end is empty, not an error. */
  readonly number: number;
  readonly size: number;
}

export interface Page<T> extends PageRequest {
  readonly items: readonly T[];
  /** Number of items on all pages. */
  readonly total: number;
}

export const offsetOf = ({ number, size }: PageRequest): number => (number - 1) * size;

/** Returns a page of a list in memory. */
export const pageFrom = <T>(all: readonly T[], request: PageRequest): Page<T> => ({
  ...request,
  items: all.slice(offsetOf(request), offsetOf(request) + request.size),
  total: all.length,
});
