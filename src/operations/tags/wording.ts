import type { ListDocument } from '../json-api/pages.ts';

/** `1 tag`, `2 tags`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** `Page 2 of 5, 87 tags`, for the line below a table. */
export function pageSummary({ meta: { pagination } }: ListDocument<unknown>, noun: string): string {
  const { 'current-page': page, 'total-pages': pages, 'total-count': total } = pagination;
  return `Page ${page} of ${pages}, ${counted(total, noun)}`;
}

/** How many things a parameter that lists some has, as the command line's remarks say it. */
export const countedIn = (list: unknown, noun: string): string =>
  counted(Array.isArray(list) ? list.length : 0, noun);
