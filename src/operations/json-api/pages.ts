/** Documents of JSON:API lists, with pagination and links. */

import type { Page } from '../../tags/record-table.ts';

/** `next` and `prev` are null at the ends. */
type PageLinks = Readonly<Record<'self' | 'first' | 'last', string> & Record<'prev' | 'next', string | null>>;

export interface ListDocument<R> {
  readonly data: readonly R[];
  /** Included resources. */
  readonly included?: readonly object[] | undefined;
  readonly links: PageLinks;
  readonly meta: { readonly pagination: ReturnType<typeof paginationOf> };
}

/**
 * Creates the document.
 * @param address scheme, host and path of the list; only a path yields relative links
 * @param query query parameters of the links besides the page; undefined values are omitted
 */
export function listDocument<R>(
  page: Page<R>,
  address: string,
  query: Readonly<Record<string, string | undefined>> = {},
): ListDocument<R> {
  const pagination = paginationOf(page);
  const link = (number: number): string => printLink(address, query, number, page.size);
  const linkOrNull = (number: number | null): string | null => (number === null ? null : link(number));
  return {
    data: page.items,
    links: {
      self: link(page.number),
      first: link(1),
      prev: linkOrNull(pagination['prev-page']),
      next: linkOrNull(pagination['next-page']),
      last: link(pagination['total-pages']),
    },
    meta: { pagination },
  };
}

/** Computes the pagination. An empty list is one empty page; a page after the end links back to the last one. */
function paginationOf({ total, number, size }: Page<unknown>) {
  const pages = Math.max(1, Math.ceil(total / size));
  return {
    'current-page': number,
    'page-size': size,
    'prev-page': number > 1 ? Math.min(number - 1, pages) : null,
    'next-page': number < pages ? number + 1 : null,
    'total-pages': pages,
    'total-count': total,
  };
}

function printLink(
  address: string,
  query: Readonly<Record<string, string | undefined>>,
  number: number,
  size: number,
): string {
  const pairs: [string, string][] = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  pairs.push(['page[number]', String(number)], ['page[size]', String(size)]);
  return `${address}?${new URLSearchParams(pairs)}`;
}

/** Maximum number of attempts to read a changing list; then it is returned as read, and marked as incomplete. */
const MOST_ATTEMPTS = 5;

/** All pages of a list in one document, whose pagination describes a single page. */
export interface GatheredList<R> {
  readonly document: ListDocument<R>;
  /**
   * Whether the list is complete; false if it changed during every attempt to read it, so that items may be missing.
   */
  readonly isWhole: boolean;
}

/**
 * Collects every page of a list. If an item is removed between two pages, later items move to pages that were already
 * read; the total shows that, and reading restarts.
 * @param fetch fetches one page of `size` items
 * @param onProgress receives the number of items so far and in total
 * @see docs/decisions/0200
 */
export async function allPages<R>(
  fetch: (number: number, size: number) => Promise<ListDocument<R>>,
  size: number,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<GatheredList<R>> {
  for (let attempt = 1; ; attempt++) {
    const gathered = await gatherOnce(fetch, size, onProgress, attempt === MOST_ATTEMPTS);
    if (gathered !== undefined) return gathered;
  }
}

/** Reads the list once; undefined if it changed, except in the last attempt. */
async function gatherOnce<R>(
  fetch: (number: number, size: number) => Promise<ListDocument<R>>,
  size: number,
  onProgress: (done: number, total: number) => void,
  isLast: boolean,
): Promise<GatheredList<R> | undefined> {
  const first = await fetch(1, size);
  const total = first.meta.pagination['total-count'];
  const data = [...first.data];
  const included = [...(first.included ?? [])];
  let isWhole = true;
  let { 'next-page': next } = first.meta.pagination;
  while (next !== null) {
    onProgress(data.length, total);
    const page = await fetch(next, size);
    isWhole &&= page.meta.pagination['total-count'] === total;
    if (!isWhole && !isLast) return undefined;
    data.push(...page.data);
    included.push(...(page.included ?? []));
    next = page.meta.pagination['next-page'];
  }
  isWhole &&= data.length === total;
  return isWhole || isLast
    ? {
        document: {
          ...single(first.links.self, data),
          included: first.included === undefined ? undefined : included,
        },
        isWhole,
      }
    : undefined;
}

const single = <R>(self: string, data: readonly R[]): ListDocument<R> => ({
  data,
  links: { self, first: self, prev: null, next: null, last: self },
  meta: {
    pagination: paginationOf({ items: data, total: data.length, number: 1, size: Math.max(1, data.length) }),
  },
});
