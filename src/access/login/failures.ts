import { elapsedMs } from '../../ground/clock.ts';
import { sourceOf } from './sources.ts';

/** Failed logins of one source at one mount: so many at once, and so many more each second. */
const AT_ONCE = 100;
const PER_SECOND = 5;
/** Sources that are remembered; past it the one that was seen first goes. */
const REMEMBERED = 10_000;

/**
 * How often logins failed of late, by mount and source: who guesses is slowed down, who gets in never. In memory and per
 * process, since a stranger must not be able to make a server write.
 * @see docs/decisions/0174
 */
export class LoginFailures {
  readonly #elapsedMs: () => number;
  readonly #sources = new Map<string, { readonly failures: number; readonly atMs: number }>();

  /** @param now milliseconds since any moment, never going back; tests hand in their own. */
  constructor(now: () => number = elapsedMs) {
    this.#elapsedMs = now;
  }

  /** Whether a login may be tried. */
  admits(mount: string, address: string): boolean {
    return this.#failures(sourceOf(mount, address)) < AT_ONCE;
  }

  /** A login failed. */
  count(mount: string, address: string): void {
    const source = sourceOf(mount, address);
    const failures = this.#failures(source) + 1;
    this.#sources.delete(source);
    if (this.#sources.size >= REMEMBERED) {
      for (const first of this.#sources.keys()) {
        this.#sources.delete(first);
        break;
      }
    }
    this.#sources.set(source, { failures, atMs: this.#elapsedMs() });
  }

  #failures(source: string): number {
    const known = this.#sources.get(source);
    if (known === undefined) return 0;
    return Math.max(0, known.failures - ((this.#elapsedMs() - known.atMs) / 1000) * PER_SECOND);
  }
}
