import { type CofferError, unavailable, unconfirmed } from '../ground/errors.ts';
import type { Undoing } from '../operations/declaration/operation.ts';
import type { Session } from './session.ts';

/**
 * Undoes an operation whose result could not be given to the user.
 * @param undoing how; undefined if there is nothing to undo
 * @param unread what happened to the result
 * @returns the error for the user, which says what was undone
 */
export async function undone(
  session: Session,
  undoing: Undoing | undefined,
  unread: string,
  why: unknown,
): Promise<CofferError> {
  if (undoing === undefined) return unavailable(unread, { hint: 'create another one', cause: why });
  const { operation, raw, what, hint } = undoing;
  try {
    await (await session.runner()).run(operation, raw);
  } catch (error) {
    return unconfirmed(unread, { hint, cause: error });
  }
  return unavailable(`${unread}; ${what} was revoked`, { hint: 'create another one', cause: why });
}
