import { elapsedMs } from '../../ground/clock.ts';
import type { Session } from '../session.ts';

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
const ERASE_LINE = '\r\x1b[K';

/**
 * A line on the terminal, redrawn a few times a second and erased at the end. Nothing at all is written when standard error
 * is no terminal, or when results go to the same screen.
 */
export class ProgressLine {
  readonly #session: Session;
  readonly #active: boolean;
  #drawnAt = 0;
  #visible = false;

  /** @param besideOutput Results go to standard output. */
  constructor(session: Session, besideOutput: boolean) {
    this.#session = session;
    this.#active =
      session.streams.err.isTerminal &&
      !session.settings.quiet &&
      !(besideOutput && session.streams.out.isTerminal);
  }

  /** @param text Called only when it is time to draw. */
  draw(text: () => string): void {
    if (!this.#active) return;
    const now = elapsedMs();
    if (now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#visible = true;
    const { err } = this.#session.streams;
    err.write(`${ERASE_LINE}${text().slice(0, err.columns - 1)}`);
  }

  end(): void {
    if (this.#visible) this.#session.streams.err.write(ERASE_LINE);
    this.#visible = false;
  }
}

/** @param fraction From 0 to 1. */
export function bar(fraction: number): string {
  const filled = Math.round(Math.min(1, fraction) * BAR_WIDTH);
  const percent = String(Math.floor(Math.min(1, fraction) * 100)).padStart(3);
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${percent} %`;
}
