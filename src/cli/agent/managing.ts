import { closing } from '../../ground/errors.ts';
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
  const status = connection && (await closing(connection, () => connection.status()).catch(() => undefined));
  if (status?.locked === false)
    session.remark('The store is unlocked, but this command always needs a secret that unlocks it.');
}

/**
 * Locks the agent, whose root key or key slot is no longer valid. It would only notice that at its next use, and until
 * then "coffer unlock" would have no effect.
 */
export async function lockAgent(session: Session): Promise<void> {
  let connection: Awaited<ReturnType<typeof findAgent>>;
  try {
    connection = await findAgent(session);
    if (connection === undefined || (await connection.status()).locked) return;
    await connection.lock();
    session.say('The agent is locked. Run "coffer unlock" to unlock the store again.');
  } catch {
    // The work is done, even if the agent cannot be locked: it has noticed that by itself, or will.
  } finally {
    connection?.close();
  }
}
