import { asCofferError, type CofferError, failedAfter, unavailable, unconfirmed } from '../ground/errors.ts';
import { changesSomething, type Operation } from '../operations/declaration/operation.ts';
import type { Lasting, Undoing } from '../operations/declaration/undoing.ts';
import type { Session } from './session.ts';

/**
 * Returns the error about a result that could not be given to the user. Undoes the operation if its result is a secret
 * that cannot be retrieved again.
 * @param why error of the output; undefined if its reader is gone
 */
export async function undelivered(
  session: Session,
  operation: Operation,
  { result, why, isCopied }: { readonly result: unknown; readonly why: unknown; readonly isCopied: boolean },
): Promise<unknown> {
  const { cli = {}, capability } = operation;
  const known = asCofferError(why);
  if (why !== undefined && !changesSomething(operation, capability)) return why;
  if (why !== undefined && (cli.undo === undefined || known?.kind === 'unconfirmed'))
    return failedAfter(
      'the operation succeeded',
      why,
      'do not run the command again: it has already made its change; to see the result, run a command that only reads, such as read or list',
    );
  return undone(session, cli.undo?.(result), unreadText(why, isCopied), why);
}

/** Returns the message about a result that could not be printed or copied. */
function unreadText(why: unknown, isCopied: boolean): string {
  const known = asCofferError(why);
  if (isCopied) return `the result was not copied: ${known?.message}`;
  if (known?.kind === 'not-found') return known.message;
  return 'standard output was closed before the result was written';
}

/**
 * Undoes an operation whose result could not be given to the user.
 * @param undoing how; undefined if there is nothing to undo
 * @param unread what happened to the result
 * @returns the error for the user, which says what was undone
 */
async function undone(
  session: Session,
  undoing: Undoing | Lasting | undefined,
  unread: string,
  why: unknown,
): Promise<CofferError> {
  if (undoing === undefined) return unavailable(unread, { cause: why });
  if ('lasts' in undoing)
    return unavailable(`${unread}; ${undoing.lasts}`, { hint: 'create another one', cause: why });
  const { operation, raw, what, hint } = undoing;
  try {
    await (await session.runner()).run(operation, raw);
  } catch (error) {
    return unconfirmed(unread, { hint, cause: error });
  }
  return unavailable(`${unread}; ${what} was revoked`, { hint: 'create another one', cause: why });
}
