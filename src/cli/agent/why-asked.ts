import type { Location } from '../../store/backends/backend-kind.ts';
import { givesSecret } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';
import { findAgent } from './find.ts';

/**
 * Says on a terminal why the secret is asked for although the store is unlocked.
 * @param location location of the store; default: that of the settings
 * @see docs/decisions/0143
 */
export async function sayWhyAsked(session: Session, location?: Location): Promise<void> {
  if (!session.prompts.available() || givesSecret(session.environment)) return;
  const connection = await findAgent(session, location);
  if (connection === undefined) return;
  try {
    const { locked } = await connection.status();
    if (!locked) session.remark('The store is unlocked, but managing it always needs its secret.');
  } catch {
    // It only matters for this message whether the agent answers.
  } finally {
    connection.close();
  }
}
