import type { Session } from '../session.ts';
import { findAgent } from './find.ts';

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
