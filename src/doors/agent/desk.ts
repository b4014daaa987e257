import type { Offer } from '../../access/doors.ts';
import type { Outcome } from '../../operations/declaration/operation.ts';

/** Everything an agent protocol can access: its offered keys. */
export interface Desk {
  /**
   * Returns the offers, oldest first.
   * @param how `quietly`: do not ask the user to unlock the store; operations run after that do not ask, either, so
   * that a store that has locked again stays locked
   * @throws `sealed` if the store is locked; `unavailable`
   */
  offers(how?: 'quietly'): Promise<readonly Offer[]>;
  /**
   * Runs an operation as the protocol's identity: policies, auditing and limits apply as for a token.
   * @param operation its words in the catalogue, e.g. `transit sign`
   * @param raw wire name → JSON value
   * @throws errors of the operation; `denied` for anything not offered; `sealed`
   */
  run(operation: string, raw: Readonly<Record<string, unknown>>, mount: string): Promise<Outcome<unknown>>;
  /**
   * Asks the user to confirm the use of a key, if its offer requires that.
   * @param what description of the use: `sign in as root`. Text from a program is shown unchanged.
   * @param gone aborted when the client no longer waits
   * @throws `denied` if the user refuses, or cannot be asked
   */
  consent(offer: Offer, what: string, gone: AbortSignal): Promise<void>;
  /**
   * Revision of the store; changes with every commit. Absent if it is not available.
   * @throws `sealed`, `unavailable`
   */
  revision?(): Promise<string>;
  /** Logs an internal error. */
  defect(error: unknown): void;
}

/** Asks the user for confirmation. Resolves to false if prompting is not possible. */
export type Ask = (question: string, gone: AbortSignal) => Promise<boolean>;
