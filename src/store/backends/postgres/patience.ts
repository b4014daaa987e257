/** How long what is waited for, in milliseconds. */
interface Patience {
  /** A database that is there answers sooner, whatever it says; this is for a line on which nothing arrives any more. */
  readonly answerMs: number;
  /** Silence that is as long is enough where another connection has been found silent. */
  readonly doubtfulMs: number;
  /** A commit may have to wait for disks and standbys; a large one has to get there first. */
  readonly commitMs: number;
  readonly largeCommitMs: number;
  /** How long those wait who come when the database has just gone, before they are told so. */
  readonly outageMs: number;
  /** The same for those who come later, or have waited for others already, while somebody tries to reach it. */
  readonly laterMs: number;
  /** Among several hosts one may be gone for good while another is about to take its place: they are soon asked again. */
  readonly severalHostsMs: number;
  /** A wait for others is divided into turns, so that it is told apart from a connection on which nothing arrives any more. */
  readonly lockTurnMs: number;
  /** The database takes the right to write from a process on which it hears nothing for so long. */
  readonly holderSilenceMs: number;
  /** Whoever holds the lock and has nothing to say lets the database know that it is still there. */
  readonly signOfLifeMs: number;
}

/**
 * Looked up whenever something begins to be waited for.
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
