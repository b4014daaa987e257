import { statSync } from 'node:fs';
import type { Version } from '../../backend.ts';
import { diskError } from '../disk-errors.ts';
import type { Layout } from '../layout.ts';
import type { StateName } from '../state-directory.ts';
import type { StoreDirectory } from '../store-directory.ts';
import { listing } from './log.ts';

interface Found {
  readonly state: Version;
  readonly files: string;
  /** Error of those who need the whole log. */
  readonly error: unknown;
}

/**
 * Damage of the log as it was found last. It is remembered as long as neither the state nor a file of the log is
 * another one: a log may have many megabytes, and everybody who asks would have them searched anew.
 */
export class Damage {
  readonly #directory: StoreDirectory;
  #found: Found | undefined;
  /** Whether what can be shown of the log was looked for. */
  #isKnown = false;

  constructor(directory: StoreDirectory) {
    this.#directory = directory;
  }

  /** Whether the log was damaged when it was read last. */
  get isThere(): boolean {
    return this.#found !== undefined;
  }

  forget(): void {
    this.#found = undefined;
    this.#isKnown = false;
  }

  /**
   * Returns what is shown of the damaged log; undefined if it has to be read, because it may be whole again.
   * @throws `corrupt` if nothing can be shown
   */
  shownAt(state: StateName): Version | undefined {
    if (!this.#isKnown || !this.#isAt(state)) return undefined;
    const { rescued } = this.#directory.log;
    if (rescued === undefined) throw this.#found?.error;
    return rescued.version;
  }

  /** @throws `corrupt` if the log of the present state is known to be damaged */
  refuse(): void {
    const { state } = this.#directory;
    if (this.#isKnown && state.known !== undefined && state.isUnchanged() && this.#isAt(state.known))
      throw this.#found?.error;
  }

  /**
   * Looks for what can be shown of a log that was read and found damaged.
   * @returns undefined if it has to be read again, because it may have been put back meanwhile
   * @throws `error` if nothing can be shown
   */
  async rescue(name: StateName, error: unknown): Promise<Version | undefined> {
    const { layout, state, log } = this.#directory;
    const { rescue } = await import('./rescued.ts');
    if (!this.#isAt(name)) {
      this.#found = { state: name, files: looksOf(layout), error };
      this.#isKnown = false;
      return undefined;
    }
    const rescued = rescue(layout, log.storeId, name);
    if (state.read() !== name || !this.#isAt(name)) return undefined;
    log.rescued = rescued;
    this.#isKnown = true;
    if (rescued === undefined) throw error;
    return rescued.version;
  }

  /** Whether all is as it was when the damage was found. */
  #isAt(state: Version): boolean {
    return state === this.#found?.state && looksOf(this.#directory.layout) === this.#found.files;
  }
}

/** Text that changes whenever a file of the log is changed, deleted or put back. */
function looksOf(layout: Layout): string {
  const { numbers, firsts } = listing(layout);
  const looks = numbers.map((number) => {
    const path = layout.logFile(number);
    try {
      const { ino, size, mtimeMs, ctimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
      return [number, ino, size, mtimeMs, ctimeMs].join(' ');
    } catch (error) {
      throw diskError(error, 'read', path);
    }
  });
  return [...looks, ...firsts].join('\n');
}
