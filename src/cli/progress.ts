import type { Session } from './session.ts';

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
const ERASE_LINE = '\r\x1b[K';

/**
 * A line on the terminal that tells how far a long job is, redrawn a few times a second and erased at the end.
 * Nothing at all is written when standard error is no terminal, or when results go to the same screen.
 */
export class Progress {
  readonly #session: Session;
  readonly #active: boolean;
  readonly #totalBytes: number | undefined;
  readonly #noun: string;
  #bytes = 0;
  #done = 0;
  #drawnAt = 0;
  #visible = false;

  /** @param about `besideOutput`: results go to standard output. */
  constructor(
    session: Session,
    about: { readonly bytes: number | undefined; readonly noun: string; readonly besideOutput: boolean },
  ) {
    this.#session = session;
    this.#totalBytes = about.bytes;
    this.#noun = about.noun;
    this.#active =
      session.streams.err.isTerminal &&
      !session.settings.quiet &&
      !(about.besideOutput && session.streams.out.isTerminal);
  }

  bytesRead(bytes: number): void {
    this.#bytes += bytes;
  }

  /** `count` more things are done. */
  done(count: number): void {
    this.#done += count;
    this.#draw(this.#totalBytes === undefined ? undefined : this.#bytes / Math.max(1, this.#totalBytes));
  }

  /** For jobs that know how many things there are. */
  show(done: number, total: number): void {
    this.#done = done;
    this.#draw(done / Math.max(1, total));
  }

  end(): void {
    if (this.#visible) this.#session.streams.err.write(ERASE_LINE);
    this.#visible = false;
  }

  #draw(fraction: number | undefined): void {
    const now = performance.now();
    if (!this.#active || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#visible = true;
    const count = `${this.#done.toLocaleString('en')} ${this.#noun}`;
    const line = fraction === undefined ? count : `${bar(Math.min(1, fraction))} ${count}`;
    this.#session.streams.err.write(`${ERASE_LINE}${line.slice(0, this.#session.streams.err.columns - 1)}`);
  }
}

function bar(fraction: number): string {
  const filled = Math.round(fraction * BAR_WIDTH);
  const percent = String(Math.floor(fraction * 100)).padStart(3);
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${percent} %`;
}
