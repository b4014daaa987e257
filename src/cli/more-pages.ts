import type { ListDocument } from '../operations/json-api/pages.ts';
import type { Given } from './given.ts';
import { ALL } from './parse/operation-spec.ts';
import type { Session } from './session.ts';

/**
 * Warns of further pages. Tables and documents show the page number; lines do not, and a script would take the first
 * page for everything.
 */
export function warnOfMore(session: Session, { options }: Given, data: unknown): void {
  const { pagination } = (data as Partial<ListDocument<unknown>> | undefined)?.meta ?? {};
  const knowsOfPages = [ALL, 'page', 'page-size'].some((flag) => options.has(flag));
  if (knowsOfPages || !pagination || pagination['next-page'] === null) return;
  session.warn(`showing ${pagination['page-size']} of ${pagination['total-count']} (use --all to list all)`);
}
