import type { Session } from '../session.ts';
import type { Copier } from './clipboard.ts';

/**
 * Finds the clipboard of the system; its code is loaded only for that.
 * @throws `unavailable` if there is none
 */
export const clipboardFor = async (session: Session): Promise<Copier> =>
  (await import('./clipboard.ts')).clipboardOf(session);
