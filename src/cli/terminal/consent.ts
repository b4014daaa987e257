import { invalid } from '../../ground/errors.ts';
import type { Session } from '../session.ts';
import { visible } from './visible.ts';

/**
 * Checks, before anything is read or unlocked, that a consent can be had.
 * @throws `invalid` when nobody can be asked and `--yes` was not said.
 */
export function requireConsent(session: Session): void {
  if (session.settings.yes || session.prompts.available()) return;
  throw invalid("this can't be undone, and there is nobody to ask", { hint: 'say --yes to do it' });
}

/** Asks, unless `--yes` was said. Tells it when the answer is no. */
export async function confirmed(session: Session, question: () => Promise<string>): Promise<boolean> {
  if (session.settings.yes) return true;
  const yes = await session.prompts.confirm(visible(await question()));
  if (!yes) session.say('Nothing was changed.');
  return yes;
}
