/** The documents that JSON:API lists answer with, their pagination and their links. */

import type { Page } from '../../tags/page.ts';

/** `next` and `prev` are null at the ends. */
type PageLinks = Readonly<Record<'self' | 'first' | 'last', string> & Record<'prev' | 'next', string | null>>;

export interface ListDocument<R> {
  readonly data: readonly R[];
  readonly links: PageLinks;
  readonly meta: { readonly pagination: ReturnType<typeof paginationOf> };
}

/**
 * @param address Scheme, host and path of the list; a path alone gives relative links.
 * @param query What the links repeat beside the page, undefined values left out.
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

/** An empty list is one empty page; a page past the end leads back to the last one. */
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

/**
 * Gathers every page of a list into one document, whose pagination says that it is a single page of all.
 * @param fetch Answers one page of `size` items.
 */
export async function allPages<R>(
  fetch: (number: number, size: number) => Promise<ListDocument<R>>,
  size: number,
): Promise<ListDocument<R>> {
  const first = await fetch(1, size);
  const data = [...first.data];
  let { 'next-page': next } = first.meta.pagination;
  while (next !== null) {
    const page = await fetch(next, size);
    data.push(...page.data);
    next = page.meta.pagination['next-page'];
  }
  const { self } = first.links;
  return {
    data,
    links: { self, first: self, prev: null, next: null, last: self },
    meta: {
      pagination: paginationOf({
        items: data,
        total: data.length,
        number: 1,
        size: Math.max(1, data.length),
      }),
    },
  };
}
