import type { Offer } from '../../access/doors.ts';
import type { Outcome } from '../../operations/declaration/operation.ts';

/** What a door has to work with: the keys that are offered through it, and nothing else. */
export interface Desk {
  /**
   * What is offered, in the order in which it was.
   * @param how `quietly`: nobody is asked to unlock the store for it. What is run after that asks nobody, either: a store that has
   * locked again is not unlocked by questions.
   * @throws `sealed` when the store is locked, `unavailable`.
   */
  offers(how?: 'quietly'): Promise<readonly Offer[]>;
  /**
   * Runs an operation as the door: policies, audit trail and limits are those of a token.
   * @param operation its words in the catalogue, e.g. `transit sign`.
   * @param raw wire name → JSON value.
   * @throws what the operation throws, `denied` for what is not offered, `sealed`.
   */
  run(operation: string, raw: Readonly<Record<string, unknown>>, mount: string): Promise<Outcome<unknown>>;
  /**
   * Asks somebody, when the offer says so, whether a key may be used now.
   * @param what is to be done: `sign in as root`. Whatever a program wrote in it is shown as it is.
   * @param gone when nobody waits for the answer any more.
   * @throws `denied` for a no, and where nobody can be asked.
   */
  consent(offer: Offer, what: string, gone: AbortSignal): Promise<void>;
  /** What is another one as soon as anything in the store is otherwise. Absent where nobody tells. @throws `sealed`, `unavailable`. */
  revision?(): Promise<string>;
  /** Notes a defect of ours for those who look at the log. */
  defect(error: unknown): void;
}

/** Asks whoever sits at the machine. Resolves to false where nobody can be asked. */
export type Ask = (question: string, gone: AbortSignal) => Promise<boolean>;
