import { asCofferError, type CofferError, failedAfter, unavailable, unconfirmed } from '../ground/errors.ts';
import { changesSomething, type Operation } from '../operations/declaration/operation.ts';
import type { Lasting, Undoing } from '../operations/declaration/undoing.ts';
import type { Session } from './session.ts';

/** Result of an operation that could not be given to the user. */
interface Undelivered {
  readonly result: unknown;
  /** Error of the output; undefined if its reader is gone. */
  readonly why: unknown;
  /** Whether it was to be copied to the clipboard. */
  readonly isCopied: boolean;
  /** Parameters of the operation, and its mount. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly mount: string | undefined;
}

/**
 * Returns the error about a result that could not be given to the user. Undoes the operation if its result is a secret
 * that cannot be retrieved again.
 */
export async function undelivered(
  session: Session,
  operation: Operation,
  { result, why, isCopied, values, mount }: Undelivered,
): Promise<unknown> {
  const { cli = {}, capability } = operation;
  const known = asCofferError(why);
  if (why !== undefined && !changesSomething(operation, capability)) return why;
  if (why !== undefined && (cli.undo === undefined || known?.kind === 'unconfirmed'))
    return failedAfter(
      'the operation succeeded',
      why,
      cli.onceOnly ??
        'do not run the command again: it has already made its change; to see the result, run a command that only reads, such as read or list',
    );
  const undoing = cli.undo?.(result, values);
  return undone(session, undoing && { mount, ...undoing }, unreadText(why, isCopied), why);
}

/** Returns the message about a result that could not be printed or copied. */
function unreadText(why: unknown, isCopied: boolean): string {
  const known = asCofferError(why);
  if (isCopied) return `the result was not copied: ${known?.message}`;
  if (known !== undefined) return known.message;
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
  undoing: ((Undoing | Lasting) & { readonly mount: string | undefined }) | undefined,
  unread: string,
  why: unknown,
): Promise<CofferError> {
  if (undoing === undefined) return unavailable(unread, { cause: why });
  if ('lasts' in undoing)
    return unavailable(`${unread}; ${undoing.lasts}`, { hint: 'create another one', cause: why });
  const { operation, raw, what, hint, mount } = undoing;
  try {
    await (await session.runner()).run(operation, raw, mount);
  } catch (error) {
    return unconfirmed(unread, { hint, cause: error });
  }
  return unavailable(`${unread}; ${what} was revoked`, { hint: 'create another one', cause: why });
}
