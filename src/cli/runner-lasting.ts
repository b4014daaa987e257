import { asCofferError } from '../ground/errors.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import { keepRenewed } from './logins/renewal.ts';
import { type FoundToken, runnerWith, tokenFor, warnOfReaders } from './runner-remote.ts';
import type { Session } from './session.ts';

/**
 * Runs operations on a server for a long-running process. Its token is renewed before it expires. If the server refuses
 * it, its source is checked for another token, from a new "coffer login" or from a program that refreshes a token file.
 * @see docs/decisions/0244
 */
export async function openLasting(session: Session, address: string): Promise<Runner> {
  warnOfReaders(session, address);
  let found = await tokenFor(session, address);
  let runner = lastingWith(session, address, found);
  let endRenewing = keepRenewed(runner);

  /** Whether there is another token than the refused one. */
  const hasChanged = async (): Promise<boolean> => {
    if (!found.mayChange) return false;
    // The file is being replaced, or cannot be read: the server's error is reported.
    const now = await tokenFor(session, address).catch(() => undefined);
    if (now?.token === undefined || now.token === found.token) return false;
    found = now;
    runner = lastingWith(session, address, found);
    endRenewing();
    endRenewing = keepRenewed(runner);
    return true;
  };
  const perhapsAgain = async <T>(work: (runner: Runner) => Promise<T>): Promise<T> => {
    const asked = runner;
    try {
      return await work(asked);
    } catch (error) {
      if (asCofferError(error)?.kind !== 'denied') throw error;
      if (runner === asked && !(await hasChanged()) && runner === asked) throw error;
      return work(runner);
    }
  };
  return {
    run: (...call) => perhapsAgain((current) => current.run(...call)),
    at: (asked) => perhapsAgain((current) => current.at(asked)),
    organization: runner.organization,
    close() {
      endRenewing();
      runner.close();
    },
  };
}

/** The expiry at the login of a stored token is not that of the token, which is renewed. */
const lastingWith = (session: Session, address: string, { kept, ...found }: FoundToken): Runner =>
  runnerWith(session, address, { ...found, kept: kept && { ...kept, expiresMs: undefined } });
