import { type Client, firstSessionOf, hearing, SESSION } from './connection.ts';
import { PoolerError } from './database-errors.ts';
import { PATIENCE } from './patience.ts';

/**
 * Whether each connection has a session of its own, as a lock and prepared statements need it. Behind a pooler that lends
 * sessions for a transaction each, several connections have the same one.
 */
export class Sessions {
  readonly #connections = new Map<string, Client>();

  /** Takes a new connection in. @throws PoolerError when another one that is alive has its session. */
  async admit(client: Client): Promise<void> {
    const session = firstSessionOf(client);
    const other = this.#connections.get(session);
    this.#connections.set(session, client);
    // A pooler that keeps sessions may pass on that of a connection of whose end we have not heard yet.
    if (other !== undefined && other !== client && (await isAlive(other))) throw new PoolerError();
  }

  /** The connection is about to end, and its session may be another's then. */
  forget(client: Client): void {
    const session = firstSessionOf(client);
    if (this.#connections.get(session) === client) this.#connections.delete(session);
  }
}

const isAlive = (client: Client): Promise<boolean> =>
  hearing(client, PATIENCE.answerMs, () => client.query('SELECT')).then(
    () => true,
    () => false,
  );

/** Whether a connection has another session than it had in the beginning; false where nobody can tell. */
export async function hasOtherSession(client: Client): Promise<boolean> {
  try {
    const { rows } = await hearing(client, PATIENCE.answerMs, () =>
      client.query<{ readonly session: string }>(`SELECT ${SESSION} AS session`),
    );
    return rows[0]?.session !== firstSessionOf(client);
  } catch {
    return false;
  }
}
