import { elapsedMs } from '../../ground/clock.ts';
import { closing } from '../../ground/errors.ts';
import type { Session } from '../session.ts';

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
/** Time in milliseconds after the first progress before the line is drawn: for a short job it would only flash up. */
const SHORT_JOB_MS = 1000;
/** Size in bytes below which a transfer has no progress line. */
const LEAST_BYTES = 2 ** 20;
const ERASE_LINE = '\r\x1b[K';
const CANCELLED = 'Cancelled.';

/**
 * Line on the terminal, drawn if the job takes longer than a moment, redrawn a few times per second and erased at the
 * end. Nothing is written if standard error is not a terminal, or if results go to the same screen: also through a pipe,
 * whose reader may write to it.
 */
class ProgressLine {
  readonly #session: Session;
  #active: boolean;
  readonly #cancelled: () => string;
  #firstAt: number | undefined;
  #drawnAt = 0;
  #visible = false;
  #listening = false;

  /**
   * Creates the line.
   * @param besideOutput whether results go to standard output
   * @param cancelled returns what Ctrl-C leaves behind, to be told to the user
   */
  constructor(session: Session, besideOutput: boolean, cancelled = () => CANCELLED) {
    this.#session = session;
    this.#cancelled = cancelled;
    this.#active =
      session.streams.err.isTerminal &&
      !session.settings.quiet &&
      !(besideOutput && session.streams.out.file === undefined);
  }

  /**
   * Draws the line. From the first call on, Ctrl-C tells the user what it leaves behind.
   * @param text called only when it is time to redraw
   */
  draw(text: (columns: number) => string): void {
    if (!this.#active) return;
    if (!this.#listening) process.on('SIGINT', this.#interrupted);
    this.#listening = true;
    const now = elapsedMs();
    this.#firstAt ??= now;
    if (now - this.#firstAt < SHORT_JOB_MS || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#visible = true;
    const { err } = this.#session.streams;
    err.write(`${ERASE_LINE}${text(err.columns - 1).slice(0, err.columns - 1)}`);
  }

  /** Erases the line for good: what was read ahead may still be reported, such as after the reader is gone. */
  close(): void {
    this.erase();
    this.#active = false;
  }

  /** Erases the line, which is drawn again with the next progress. */
  erase(): void {
    if (this.#listening) process.off('SIGINT', this.#interrupted);
    this.#listening = false;
    if (this.#visible) this.#session.streams.err.write(ERASE_LINE);
    this.#visible = false;
  }

  /** Whatever else listens for Ctrl-C cleans up and ends the process; otherwise it ends here, as by default. */
  readonly #interrupted = (): void => {
    const { err } = this.#session.streams;
    // The terminal has shown ^C.
    if (!this.#visible) err.write(ERASE_LINE);
    this.close();
    err.write(`${this.#cancelled()}\n`);
    if (process.listenerCount('SIGINT') === 0) process.kill(process.pid, 'SIGINT');
  };
}

/**
 * Formats a progress bar.
 * @param fraction number from 0 to 1
 */
function bar(fraction: number): string {
  const filled = Math.round(Math.min(1, fraction) * BAR_WIDTH);
  const percent = String(Math.floor(Math.min(1, fraction) * 100)).padStart(3);
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${percent} %`;
}

interface Job {
  /** Total size of the input; undefined if the number of items is known, or nothing is. */
  readonly bytes?: number | undefined;
  readonly noun: string;
  /** Whether results go to standard output. */
  readonly besideOutput: boolean;
  /** Returns what Ctrl-C leaves behind. */
  readonly cancelled?: () => string;
}

/** Progress of a long job on many items. */
export class ProgressBar extends ProgressLine {
  readonly #about: Job;
  #bytes = 0;
  #done = 0;

  constructor(session: Session, about: Job) {
    super(session, about.besideOutput, about.cancelled);
    this.#about = about;
  }

  bytesRead(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Counts further finished items. */
  done(count: number): void {
    this.#done += count;
    const { bytes } = this.#about;
    this.#draw(bytes === undefined ? undefined : this.#bytes / Math.max(1, bytes));
  }

  /** Shows the progress, for jobs that know the number of items. */
  show(done: number, total: number): void {
    this.#done = done;
    this.#draw(done / Math.max(1, total));
  }

  #draw(fraction: number | undefined): void {
    this.draw(() => {
      const count = `${this.#done.toLocaleString('en')} ${this.#about.noun}`;
      return fraction === undefined ? count : `${bar(fraction)} ${count}`;
    });
  }
}

/** Shows the progress of a job on the files of a store while it runs. */
export async function watched<T>(
  session: Session,
  job: (onProgress: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const progress = new ProgressBar(session, { noun: 'files', besideOutput: false });
  return closing(progress, () => job((done, total) => progress.show(done, total)));
}

/** Progress of a transfer: bytes, rate and remaining time. */
export class TransferProgress extends ProgressLine {
  readonly #totalBytes: number | undefined;
  readonly #startedAt = elapsedMs();
  #bytes = 0;

  /**
   * Creates the progress.
   * @param totalBytes total size; undefined if unknown
   * @param besideOutput whether the data goes to standard output
   * @param cancelled returns what Ctrl-C leaves behind
   */
  constructor(
    session: Session,
    totalBytes: number | undefined,
    besideOutput: boolean,
    cancelled?: () => string,
  ) {
    super(session, besideOutput, cancelled);
    this.#totalBytes = totalBytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if ((this.#totalBytes ?? this.#bytes) < LEAST_BYTES) return;
    this.draw((columns) =>
      transferText(this.#bytes, this.#totalBytes, (elapsedMs() - this.#startedAt) / 1000, columns),
    );
  }
}

/**
 * Formats `[######------] 50 %  1.0 GiB of 2.0 GiB  850 MiB/s  2 s left`; without the sizes, and then without the rate,
 * if that is wider than the terminal.
 */
export function transferText(
  bytes: number,
  totalBytes: number | undefined,
  seconds: number,
  columns = Number.POSITIVE_INFINITY,
): string {
  const rate = bytes / Math.max(seconds, 0.001);
  const parts = [`${sizeText(rate)}/s`];
  if (totalBytes === undefined) return [sizeText(bytes), ...parts].join('  ');
  const left = rate > 0 ? durationText(Math.max(0, totalBytes - bytes) / rate) : undefined;
  if (left !== undefined) parts.push(`${left} left`);
  const fraction = totalBytes === 0 ? 1 : bytes / totalBytes;
  const sizes = `${sizeText(bytes)} of ${sizeText(totalBytes)}`;
  const forms = [[sizes, ...parts], parts, parts.slice(1)].map((form) => [bar(fraction), ...form].join('  '));
  return forms.find((form) => form.length <= columns) ?? bar(fraction);
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats `17 bytes`, `1.5 GiB`. */
export function sizeText(bytes: number): string {
  const exponent = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** exponent;
  const unit = bytes === 1 ? 'byte' : UNITS[exponent];
  return `${exponent === 0 ? Math.round(value) : value.toFixed(1)} ${unit}`;
}

/** Formats `5 s`, `2 min 5 s`, `1 h 3 min`. */
function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
