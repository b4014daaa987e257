import { elapsedMs } from '../../../../ground/clock.ts';
import { pause } from '../../../../ground/pause.ts';

const LONGEST_PAUSE_MS = 50;
/** Share of the newest file that may be filled before anything of the oldest is moved. */
const AHEAD = 0.1;
/** How much is taken to be moved since the last step at most: a disk that stands still must not be outrun. */
const MOST_GUESSED = 0.4;

/**
 * Lets the newest file of the log fill only as fast as the oldest is moved to the documents. Otherwise all writers would
 * wait at once when both are full, for as long as it takes to move a whole file.
 */
export class Pace {
  /** Share of the oldest file that was moved at the last step, and when that was; undefined if none is being moved. */
  #step: { readonly share: number; readonly atMs: number } | undefined;
  /** Share of a file that is moved in a millisecond, as of the last steps; 0 if that is unknown. */
  #rate = 0;
  #moved = Promise.withResolvers<void>();

  /** Resolves at the next step. */
  get moved(): Promise<void> {
    return this.#moved.promise;
  }

  /** Takes note of what is moved by now; undefined if no file is being moved any more. */
  advance(share: number | undefined): void {
    const before = this.#step;
    const atMs = elapsedMs();
    if (share !== undefined && before !== undefined && share > before.share && atMs > before.atMs) {
      const rate = (share - before.share) / (atMs - before.atMs);
      this.#rate = this.#rate === 0 ? rate : (this.#rate + rate) / 2;
    }
    this.#step = share === undefined ? undefined : { share, atMs };
    this.#moved.resolve();
    this.#moved = Promise.withResolvers<void>();
  }

  /**
   * Waits while the newest file is further than the oldest.
   * @param filled returns the share of the newest file that is filled
   * @param end when not to wait any more
   */
  async keep(filled: () => number, end: number): Promise<void> {
    for (;;) {
      const ahead = filled() - AHEAD - this.#guess();
      if (this.#step === undefined || ahead <= 0 || elapsedMs() >= end) return;
      const restMs = this.#rate === 0 ? LONGEST_PAUSE_MS : ahead / this.#rate;
      await Promise.race([this.moved, pause(Math.min(LONGEST_PAUSE_MS, Math.max(1, restMs)))]);
    }
  }

  /** Share that is moved by now, going by the last steps. */
  #guess(): number {
    if (this.#step === undefined) return 1;
    const { share, atMs } = this.#step;
    return share + Math.min(MOST_GUESSED, this.#rate * (elapsedMs() - atMs));
  }
}
