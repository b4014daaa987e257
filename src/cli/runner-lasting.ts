import { asCofferError } from '../ground/errors.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import { keepRenewed } from './logins/renewal.ts';
import { runnerWith, tokenFor, warnOfReaders } from './runner-remote.ts';
import type { Session } from './session.ts';

/**
 * Runs operations on a server for a process that stays. Its token is renewed before it ends; and where the server refuses, it is looked
 * whether another one has come to the place of which it was taken: by a new "coffer login", or by whoever keeps a file of it fresh.
 * @see docs/decisions/0244
 */
export async function openLasting(session: Session, address: string): Promise<Runner> {
  warnOfReaders(session, address);
  let found = await tokenFor(session, address);
  let runner = runnerWith(session, address, found);
  let endRenewing = keepRenewed(runner);

  /** Whether there is another token than the one that was refused. */
  const hasChanged = async (): Promise<boolean> => {
    if (!found.mayChange) return false;
    // A file that is just being replaced, or can't be read now: what the server said is told.
    const now = await tokenFor(session, address).catch(() => undefined);
    if (now?.token === undefined || now.token === found.token) return false;
    found = now;
    runner = runnerWith(session, address, found);
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
