import { elapsedMs } from '../../ground/clock.ts';
import { setAmong } from '../../ground/objects.ts';
import { sourceOf } from './networks.ts';

/** Limits of failed logins per source and mount: burst, and rate per second. */
const AT_ONCE = 100;
const PER_SECOND = 5;
/** Maximum number of sources tracked; beyond it the oldest is evicted. */
const REMEMBERED = 10_000;
/**
 * Maximum number of concurrent logins per source, mount and process: each may have a body of 64 KiB that is still to
 * arrive.
 */
const UNDER_WAY = 500;

/** Login attempt that was admitted. */
interface LoginAttempt {
  /** Called once, whatever the result. */
  end(hasFailed: boolean): void;
}

/**
 * Tracks concurrent logins and recent failures, by mount and source: guessing is slowed down, successful logins never
 * are. In memory and per process, because an unauthenticated client must not be able to make a server write.
 * @see docs/decisions/0174
 */
export class LoginAttempts {
  readonly #elapsedMs: () => number;
  readonly #failed = new Map<string, { readonly failures: number; readonly atMs: number }>();
  readonly #underWay = new Map<string, number>();

  /** @param now monotonic clock, in milliseconds; replaced in tests */
  constructor(now: () => number = elapsedMs) {
    this.#elapsedMs = now;
  }

  /** Admits a login; undefined if it is rate-limited. Called before the request is read. */
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

  /**
   * Whether to admit a login. After many recent failures, no more concurrent logins are admitted than may still fail;
   * otherwise all of them would be admitted before the first has failed.
   */
  #admits(failures: number, underWay: number): boolean {
    const left = AT_ONCE - failures;
    return left > 0 && underWay < (failures < AT_ONCE / 2 ? UNDER_WAY : left);
  }

  #count(key: string): void {
    const failures = this.#failures(key) + 1;
    setAmong(this.#failed, REMEMBERED, key, { failures, atMs: this.#elapsedMs() });
  }

  #failures(key: string): number {
    const known = this.#failed.get(key);
    if (known === undefined) return 0;
    return Math.max(0, known.failures - ((this.#elapsedMs() - known.atMs) / 1000) * PER_SECOND);
  }
}
