/**
 * Timeouts in use, in milliseconds; read whenever a wait begins.
 * @see docs/decisions/0123
 */
export const PATIENCE = {
  /**
   * Response timeout. A working database answers sooner, even with an error; this detects connections on which nothing
   * arrives any more.
   */
  answerMs: 4000,
  /** Shorter response timeout, used after another connection has timed out. */
  doubtfulMs: 2000,
  /** Timeout of a commit, which may wait for disks and standbys; a large one also has to be transferred. */
  commitMs: 6000,
  largeCommitMs: 30_000,
  /** Time that callers wait at the beginning of an outage before they get an error. */
  outageMs: 3000,
  /**
   * Time that callers wait later in the outage, or if they have already waited for others, while a reconnection attempt
   * is running.
   */
  laterMs: 700,
  /**
   * Response timeout with several hosts: one may be gone for good while another is about to take over, so they are soon
   * tried again.
   */
  severalHostsMs: 1500,
  /**
   * Interval of a wait for other writers. The wait is divided so that it can be distinguished from a dead connection.
   */
  lockTurnMs: 2500,
  /** Time without any data after which the database takes the write lock from a process. */
  holderSilenceMs: 6000,
  /** Keep-alive interval of an idle lock holder. */
  signOfLifeMs: 1500,
};
