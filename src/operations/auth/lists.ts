import type { ListOptions } from '../../store/store.ts';
import type { Outcome } from '../declaration/operation.ts';
import { integer, text, type ValuesOf } from '../declaration/params.ts';

/** Paging parameters of all lists of roles and users. */
export const listParams = {
  after: text({
    help: 'List only names after NAME in sorted order; NAME need not exist.',
    default: '',
    cli: { metavar: 'NAME' },
  }),
  limit: integer({ help: 'Maximum number of names (0: all).', default: 0, cli: { metavar: 'N' } }),
} as const;

export const pageOf = ({ after, limit }: ValuesOf<typeof listParams>): ListOptions => ({
  after: after === '' ? undefined : after,
  limit: limit > 0 ? limit : undefined,
});

/**
 * Prints names, one per line.
 * @param what plural of the listed objects
 * @param create command that creates one
 */
export const listCli = (what: string, create: string) =>
  ({ result: { member: 'keys', as: 'lines' }, empty: { what, create } }) as const;

export const listAnswer = (keys: readonly string[]): Outcome<{ readonly keys: readonly string[] }> => ({
  data: { keys },
  nothingListed: keys.length === 0 ? true : undefined,
});
