import { CofferError } from '../ground/errors.ts';
import type { Operation, Runner } from '../operations/declaration/operation.ts';
import { allPages, type Gathered, type ListDocument } from '../operations/json-api/pages.ts';
import type { RawValues } from './parse/operation-values.ts';
import type { Session } from './session.ts';
import { Progress } from './terminal/progress.ts';

/** Pages are gathered in the largest steps that the API allows. */
const PAGE_SIZE = 100;

/**
 * Every page of a list: of a local store as it was at one moment, of a server as long as nobody changes the list meanwhile.
 * Says so when it may not be whole. @param besideOutput the result goes to standard output.
 * @see docs/decisions/0200
 */
export async function everyPage<R = unknown>(
  session: Session,
  runner: Runner,
  operation: Operation | string,
  raw: RawValues,
  besideOutput = false,
): Promise<Gathered<R>> {
  const progress = new Progress(session, { bytes: undefined, noun: 'read', besideOutput });
  const gather = (from: Runner): Promise<Gathered<R>> =>
    allPages(
      async (number, size) => {
        const { data } = await from.run(operation, { ...raw, 'page[number]': number, 'page[size]': size });
        if (data === undefined) throw new CofferError('unavailable', 'the answer has no page in it');
        return data as ListDocument<R>;
      },
      PAGE_SIZE,
      (done, total) => progress.show(done, total),
    );
  try {
    const gathered = await (runner.snapshot === undefined ? gather(runner) : runner.snapshot(gather));
    if (!gathered.isWhole) session.fail('the list changed while it was read, so it may not be whole');
    return gathered;
  } finally {
    progress.end();
  }
}
