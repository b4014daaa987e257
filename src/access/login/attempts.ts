import { elapsedMs } from '../../ground/clock.ts';
import { sourceOf } from './sources.ts';

/** Failed logins of one source at one mount: so many at once, and so many more each second. */
const AT_ONCE = 100;
const PER_SECOND = 5;
/** Sources that are remembered; past it the one that was seen first goes. */
const REMEMBERED = 10_000;
/** Logins of one source at one mount that are under way in a process: each may be a body of 64 KiB that is still to come. */
const UNDER_WAY = 500;

/** A login that was let as far as being tried. */
export interface LoginAttempt {
  /** Called once, however it ended. */
  end(hasFailed: boolean): void;
}

/**
 * Logins that are under way, counted when they come, and how often some failed of late, by mount and source: who guesses is slowed
 * down, who gets in never. In memory and per process, since a stranger must not be able to make a server write.
 * @see docs/decisions/0174
 */
export class LoginAttempts {
  readonly #elapsedMs: () => number;
  readonly #failed = new Map<string, { readonly failures: number; readonly atMs: number }>();
  readonly #underWay = new Map<string, number>();

  /** @param now milliseconds since any moment, never going back; tests hand in their own. */
  constructor(now: () => number = elapsedMs) {
    this.#elapsedMs = now;
  }

  /** Undefined for one that is not to be tried now. Asked before anything is read of what was sent. */
  begin(mount: string, address: string): LoginAttempt | undefined {
    const key = `${mount} ${sourceOf(address)}`;
    const underWay = this.#underWay.get(key) ?? 0;
    if (!this.#admits(this.#failures(key), underWay)) return undefined;
    this.#underWay.set(key, underWay + 1);
    return {
      end: (hasFailed) => {
        const left = (this.#underWay.get(key) ?? 1) - 1;
        if (left === 0) this.#underWay.delete(key);
        else this.#underWay.set(key, left);
        if (hasFailed) this.#count(key);
      },
    };
  }

  /** Where many failed of late, no more come at once than may fail yet; else they would all be let in before the first has failed. */
  #admits(failures: number, underWay: number): boolean {
    const left = AT_ONCE - failures;
    return left > 0 && underWay < (failures < AT_ONCE / 2 ? UNDER_WAY : left);
  }

  #count(key: string): void {
    const failures = this.#failures(key) + 1;
    this.#failed.delete(key);
    if (this.#failed.size >= REMEMBERED) {
      for (const first of this.#failed.keys()) {
        this.#failed.delete(first);
        break;
      }
    }
    this.#failed.set(key, { failures, atMs: this.#elapsedMs() });
  }

  #failures(key: string): number {
    const known = this.#failed.get(key);
    if (known === undefined) return 0;
    return Math.max(0, known.failures - ((this.#elapsedMs() - known.atMs) / 1000) * PER_SECOND);
  }
}
