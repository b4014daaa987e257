import type { Session } from '../session.ts';
import { bar, ProgressLine } from './progress-line.ts';

/** How far a long job over many things is. */
export class Progress {
  readonly #line: ProgressLine;
  readonly #totalBytes: number | undefined;
  readonly #noun: string;
  #bytes = 0;
  #done = 0;

  /** @param about `besideOutput`: results go to standard output. */
  constructor(
    session: Session,
    about: { readonly bytes: number | undefined; readonly noun: string; readonly besideOutput: boolean },
  ) {
    this.#line = new ProgressLine(session, about.besideOutput);
    this.#totalBytes = about.bytes;
    this.#noun = about.noun;
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
    this.#line.end();
  }

  #draw(fraction: number | undefined): void {
    this.#line.draw(() => {
      const count = `${this.#done.toLocaleString('en')} ${this.#noun}`;
      return fraction === undefined ? count : `${bar(fraction)} ${count}`;
    });
  }
}
