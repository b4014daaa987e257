import { asCofferError, failedAfter } from '../../ground/errors.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { MOST_LINKED } from '../../operations/json-api/linkage.ts';
import type { Resources, TagResource } from '../../operations/tags/documents.ts';
import { UNUSED_ONLY } from '../../operations/tags/tags.ts';
import { inBoundedCalls } from '../files/bounded-calls.ts';
import type { Session } from '../session.ts';
import { ProgressBar } from '../terminal/progress.ts';

/** Returns the calls that `run` makes for items, each for as many as one call takes. */
export const inCalls = <T>(
  items: readonly T[],
  run: (part: readonly T[]) => Promise<unknown>,
): readonly CountedCall[] =>
  [...inBoundedCalls(items, { items: MOST_LINKED })].map((part) => ({
    count: part.length,
    run: () => run(part),
  }));

/** One call, and the number of objects that it changes. */
export interface CountedCall {
  readonly count: number;
  run(): Promise<unknown>;
}

/**
 * Runs the calls one after the other, with a progress bar on a terminal.
 * @throws the error of a call; if others succeeded before, it says how many objects they changed
 * @param hint suggested action
 */
export async function carryOut(
  session: Session,
  noun: string,
  pieces: readonly CountedCall[],
  hint = 'run the same command again to do the rest',
): Promise<void> {
  const total = pieces.reduce((sum, { count }) => sum + count, 0);
  let done = 0;
  const progress = new ProgressBar(session, {
    bytes: undefined,
    noun,
    besideOutput: false,
    cancelled: () => `Cancelled. At least ${done} of ${total} ${noun} are done (${hint}).`,
  });
  try {
    for (const { count, run } of pieces) {
      progress.show(done, total);
      await run();
      done += count;
    }
  } catch (error) {
    if (done === 0 || asCofferError(error) === undefined) throw error;
    // The same would be refused again.
    const next = asCofferError(error)?.kind === 'invalid' ? `correct this, then ${hint}` : hint;
    throw failedAfter(`${done} of ${total} ${noun} are done`, error, next);
  } finally {
    progress.close();
  }
}

/**
 * Returns the calls that delete tags that no workspace had when they were read; a tag attached to a workspace since
 * then is kept.
 * @param onDeleted called after each call with the deleted names
 */
export const deletingUnused = (
  runner: Runner,
  organization_name: string,
  tags: readonly TagResource[],
  onDeleted: (names: readonly string[]) => void = () => {},
): readonly CountedCall[] =>
  inCalls(tags, async (part) => {
    const data = part.map(({ id }) => id);
    const answer = await runner.run('tags delete', { organization_name, data, [UNUSED_ONLY]: true });
    const deleted = (answer.data as Resources<TagResource> | undefined)?.data ?? part;
    onDeleted(deleted.map(({ attributes }) => attributes.name));
  });
