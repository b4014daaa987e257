import { elapsedMs } from '../../ground/clock.ts';
import type { Session } from '../session.ts';
import { bar, ProgressLine } from '../terminal/progress-line.ts';

/** How many bytes went through, how fast, and how long it may still take. */
export class TransferProgress {
  readonly #line: ProgressLine;
  readonly #totalBytes: number | undefined;
  readonly #startedAt = elapsedMs();
  #bytes = 0;

  /**
   * @param totalBytes Undefined when it is not known how much there is.
   * @param besideOutput The data go to standard output.
   */
  constructor(session: Session, totalBytes: number | undefined, besideOutput: boolean) {
    this.#line = new ProgressLine(session, besideOutput);
    this.#totalBytes = totalBytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    this.#line.draw(() =>
      transferText(this.#bytes, this.#totalBytes, (elapsedMs() - this.#startedAt) / 1000),
    );
  }

  end(): void {
    this.#line.end();
  }
}

/** `[######------] 50 %  1.0 GiB of 2.0 GiB  850 MiB/s  2 s left` */
export function transferText(bytes: number, totalBytes: number | undefined, seconds: number): string {
  const rate = bytes / Math.max(seconds, 0.001);
  const parts = [`${sizeText(rate)}/s`];
  if (totalBytes === undefined) return [sizeText(bytes), ...parts].join('  ');
  const left = rate > 0 ? durationText(Math.max(0, totalBytes - bytes) / rate) : undefined;
  if (left !== undefined) parts.push(`${left} left`);
  const fraction = totalBytes === 0 ? 1 : bytes / totalBytes;
  return [bar(fraction), `${sizeText(bytes)} of ${sizeText(totalBytes)}`, ...parts].join('  ');
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `17 bytes`, `1.5 GiB` */
export function sizeText(bytes: number): string {
  const exponent = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** exponent;
  const unit = bytes === 1 ? 'byte' : UNITS[exponent];
  return `${exponent === 0 ? Math.round(value) : value.toFixed(1)} ${unit}`;
}

/** `5 s`, `2 min 5 s`, `1 h 3 min` */
function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
