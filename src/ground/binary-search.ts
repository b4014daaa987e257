/** Binary search: returns the first of `count` sorted items for which `before` is false. */
export function firstNotBefore(count: number, before: (place: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
