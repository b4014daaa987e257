import { firstSessionOf, hearing, type PostgresClient, SESSION } from './connection.ts';
import { PoolerError } from './database-errors.ts';
import { PATIENCE } from './patience.ts';

/**
 * Detects connections that do not have a session of their own, which locks and prepared statements require. Behind a
 * pooler that assigns sessions per transaction, several connections share one.
 */
export class Sessions {
  readonly #connections = new Map<string, PostgresClient>();

  /**
   * Registers a new connection.
   * @throws PoolerError if another live connection has its session
   */
  async admit(client: PostgresClient): Promise<void> {
    const session = firstSessionOf(client);
    const other = this.#connections.get(session);
    this.#connections.set(session, client);
    // A pooler that keeps sessions may reuse that of a connection whose end we have not noticed yet.
    if (other !== undefined && other !== client && (await isAlive(other))) throw new PoolerError();
  }

  /** Unregisters a connection that is about to close; its session may be reused then. */
  forget(client: PostgresClient): void {
    const session = firstSessionOf(client);
    if (this.#connections.get(session) === client) this.#connections.delete(session);
  }
}

const isAlive = (client: PostgresClient): Promise<boolean> =>
  hearing(client, PATIENCE.answerMs, () => client.query('SELECT')).then(
    () => true,
    () => false,
  );

/** Whether a connection has a different session than at first; false if that cannot be determined. */
export async function hasOtherSession(client: PostgresClient): Promise<boolean> {
  try {
    const { rows } = await hearing(client, PATIENCE.answerMs, () =>
      client.query<{ readonly session: string }>(`SELECT ${SESSION} AS session`),
    );
    return rows[0]?.session !== firstSessionOf(client);
  } catch {
    return false;
  }
}
