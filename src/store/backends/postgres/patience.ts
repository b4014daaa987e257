/** Timeouts, in milliseconds. */
interface Patience {
  /**
   * Response timeout. A working database answers sooner, even with an error; this detects connections on which nothing
   * arrives any more.
   */
  readonly answerMs: number;
  /** Shorter response timeout, used after another connection has timed out. */
  readonly doubtfulMs: number;
  /** Timeout of a commit, which may wait for disks and standbys; a large one also has to be transferred. */
  readonly commitMs: number;
  readonly largeCommitMs: number;
  /** Time that callers wait at the beginning of an outage before they get an error. */
  readonly outageMs: number;
  /**
   * Time that callers wait later in the outage, or if they have already waited for others, while a reconnection attempt
   * is running.
   */
  readonly laterMs: number;
  /**
   * Response timeout with several hosts: one may be gone for good while another is about to take over, so they are soon
   * tried again.
   */
  readonly severalHostsMs: number;
  /**
   * Interval of a wait for other writers. The wait is divided so that it can be distinguished from a dead connection.
   */
  readonly lockTurnMs: number;
  /** Time without any data after which the database takes the write lock from a process. */
  readonly holderSilenceMs: number;
  /** Keep-alive interval of an idle lock holder. */
  readonly signOfLifeMs: number;
}

/**
 * Timeouts in use; read whenever a wait begins.
 * @see docs/decisions/0123
 */
export const PATIENCE: Patience = {
  answerMs: 4000,
  doubtfulMs: 2000,
  commitMs: 6000,
  largeCommitMs: 30_000,
  outageMs: 3000,
  laterMs: 700,
  severalHostsMs: 1500,
  lockTurnMs: 2500,
  holderSilenceMs: 6000,
  signOfLifeMs: 1500,
};
