/** The documents that JSON:API lists answer with, their pagination and their links. */

import type { Page } from '../../tags/page.ts';

/** `next` and `prev` are null at the ends. */
type PageLinks = Readonly<Record<'self' | 'first' | 'last', string> & Record<'prev' | 'next', string | null>>;

export interface ListDocument<R> {
  readonly data: readonly R[];
  /** Resources that were asked for beside them. */
  readonly included?: readonly object[];
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

/** A list that changes this often while it is read is given as it came, and said not to be whole. */
const MOST_ATTEMPTS = 5;

/** Every page of a list in one document, whose pagination says that it is a single page of all. */
export interface Gathered<R> {
  readonly document: ListDocument<R>;
  /** False when the list changed while it was read, and again whenever it was read anew: something may be missing. */
  readonly isWhole: boolean;
}

/**
 * Gathers every page of a list. Who takes something out of the list between two pages moves what follows to pages that were
 * read already; that shows in the total, and the reading begins anew.
 * @see docs/decisions/0200
 * @param fetch Answers one page of `size` items.
 * @param onProgress how many items are there, and how many there will be.
 */
export async function allPages<R>(
  fetch: (number: number, size: number) => Promise<ListDocument<R>>,
  size: number,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<Gathered<R>> {
  for (let attempt = 1; ; attempt++) {
    const gathered = await gatherOnce(fetch, size, onProgress, attempt === MOST_ATTEMPTS);
    if (gathered !== undefined) return gathered;
  }
}

/** Undefined when the list changed, unless that is to be put up with. */
async function gatherOnce<R>(
  fetch: (number: number, size: number) => Promise<ListDocument<R>>,
  size: number,
  onProgress: (done: number, total: number) => void,
  isLast: boolean,
): Promise<Gathered<R> | undefined> {
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
          ...(first.included === undefined ? {} : { included }),
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
