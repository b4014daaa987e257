import { CofferError, closing } from '../ground/errors.ts';
import type { Operation, Runner } from '../operations/declaration/operation.ts';
import { allPages, type GatheredList, type ListDocument } from '../operations/json-api/pages.ts';
import type { RawValues } from './files/operation-values.ts';
import type { Session } from './session.ts';
import { ProgressBar } from './terminal/progress.ts';

/** Maximum page size that the API allows. */
const PAGE_SIZE = 100;

interface PageQuery {
  readonly operation: Operation | string;
  readonly raw: RawValues;
  readonly besideOutput?: boolean | undefined;
}

/**
 * Reads every page of a list: in a local store from a single snapshot, on a server as long as the list is not changed
 * meanwhile. Prints a warning if it may be incomplete.
 * @param besideOutput whether the result is written to standard output
 * @see docs/decisions/0200
 */
export async function everyPage<R = unknown>(
  session: Session,
  runner: Runner,
  { operation, raw, besideOutput = false }: PageQuery,
): Promise<GatheredList<R>> {
  const progress = new ProgressBar(session, { noun: 'read', besideOutput });
  const gather = (from: Runner): Promise<GatheredList<R>> =>
    allPages(
      async (number, size) => {
        const { data } = await from.run(operation, { ...raw, 'page[number]': number, 'page[size]': size });
        if (data === undefined)
          throw new CofferError('unavailable', 'unexpected response of the server: it has no page');
        return data as ListDocument<R>;
      },
      PAGE_SIZE,
      (done, total) => progress.show(done, total),
    );
  return closing(progress, async () => {
    const gathered = await (runner.snapshot === undefined ? gather(runner) : runner.snapshot(gather));
    if (!gathered.isWhole) session.fail('the list changed while it was read and may be incomplete');
    return gathered;
  });
}
