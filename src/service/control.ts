import { utf8 } from '../ground/bytes.ts';
import { asCofferError, invalid, ownWords } from '../ground/errors.ts';
import type { SealStatus, ServerState } from '../operations/declaration/operation.ts';
import { sealedView } from '../store/administration/status.ts';
import type { Location } from '../store/backends/backend-kind.ts';
import type { Sighting } from '../store/backends/witness.ts';
import { checkShare } from '../store/slots/shares.ts';
import { collectKeys } from './heap.ts';
import type { Log } from './log.ts';
import { printMetrics, type Snapshot } from './metrics.ts';
import { forget, isShareText, keysInText, shareIn, type UnsealKey } from './unseal-keys.ts';

/** Worker process, as seen by its controller. */
export interface Member {
  /**
   * Opens the store.
   * @throws `denied` if no key fits; its state stays unchanged then
   */
  unseal(keys: readonly UnsealKey[]): Promise<void>;
  seal(): Promise<void>;
  reload(): Promise<void>;
  /** Returns the last-seen state of the store. */
  seen(): Promise<Sighting | undefined>;
  snapshot(): Promise<Snapshot>;
}

/**
 * Controls all processes of a server: seals, unseals and counts. Each change is carried out by every process before it
 * is acknowledged, one change at a time.
 */
export class Control implements ServerState {
  readonly #location: Location;
  readonly #apiDocument: () => object;
  readonly #log: Log;
  readonly #members = new Set<Member>();
  /** Recovery shares received so far, all of one slot. */
  #shares = new Set<string>();
  #keys: readonly UnsealKey[] | undefined;
  #seen: Sighting | undefined;
  /** Number of processes that exited unexpectedly. */
  #replaced = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(location: Location, log: Log, apiDocument: () => object) {
    this.#location = location;
    this.#log = log;
    this.#apiDocument = apiDocument;
  }

  /** Keys that unsealed the server; undefined while it is sealed. */
  get keys(): readonly UnsealKey[] | undefined {
    return this.#keys;
  }

  /** Sets the keys with which the store was opened before any process needed it. */
  unsealedWith(keys: readonly UnsealKey[]): void {
    this.#keys = keys;
  }

  /** Adds a process once `start` has brought it to the current state. */
  async add<M extends Member>(start: () => Promise<M>): Promise<M> {
    return this.#alone(async () => {
      const member = await start();
      this.#members.add(member);
      return member;
    });
  }

  remove(member: Member): void {
    this.#members.delete(member);
  }

  /** Counts a process that exited unexpectedly. */
  replaced(): void {
    this.#replaced += 1;
  }

  /** Returns the newest state of the store that any process has seen, for a new process. */
  async seen(): Promise<Sighting | undefined> {
    const seen = await Promise.all([...this.#members].map((member) => member.seen().catch(() => undefined)));
    for (const one of seen) {
      if (one && (this.#seen === undefined || one.revision > this.#seen.revision)) this.#seen = one;
    }
    return this.#seen;
  }

  async sealStatus(): Promise<SealStatus> {
    return sealStatusOf(this.#location, this.#keys === undefined, this.#shares.size);
  }

  async unseal(text: string): Promise<SealStatus> {
    await this.#alone(async () => {
      if (this.#keys !== undefined) return;
      const share = shareIn(text);
      // A checksum over what a stranger has sent tells nothing about the secret.
      const plain = isShareText(text) ? this.#checkedShare(text) : undefined;
      if (share === undefined || plain === undefined) return this.#unsealWith(keysInText(text));
      if (![...this.#shares].every((other) => shareIn(other)?.slot === share.slot)) this.#shares.clear();
      this.#shares.add(plain);
      if (this.#shares.size < share.threshold) return;
      const texts = [...this.#shares];
      this.#shares = new Set();
      return this.#unsealWith([{ kind: 'shares', parts: texts.map(utf8) }]);
    });
    return this.sealStatus();
  }

  #checkedShare(text: string): string {
    try {
      return checkShare(text);
    } catch (error) {
      this.#log.warn('an attempt to unseal failed', { reason: 'a recovery share is mistyped' });
      throw error;
    }
  }

  async resetUnseal(): Promise<SealStatus> {
    this.#shares = new Set();
    return this.sealStatus();
  }

  async seal(): Promise<void> {
    await this.#alone(async () => {
      const keys = this.#keys ?? [];
      this.#keys = undefined;
      await this.#everybody((member) => member.seal());
      forget(keys);
      collectKeys();
      this.#log.info('sealed');
    });
  }

  async reload(): Promise<void> {
    await this.#alone(() => this.#everybody((member) => member.reload()));
  }

  async metrics(tokenEnds?: number): Promise<string> {
    const snapshots = await Promise.all([...this.#members].map((member) => member.snapshot()));
    return printMetrics(snapshots, {
      sealed: this.#keys === undefined,
      replaced: this.#replaced,
      tokenEnds,
    });
  }

  apiDocument(): object {
    return this.#apiDocument();
  }

  /** Unseals all processes; the first one finds out whether the keys are right. */
  async #unsealWith(keys: readonly UnsealKey[]): Promise<void> {
    try {
      for (const member of this.#members) await member.unseal(keys);
    } catch (error) {
      forget(keys);
      const { kind } = asCofferError(error) ?? {};
      if (kind !== 'denied' && kind !== 'sealed') throw error;
      // Requests without a token leave no audit record: this is the only trace of an attack on the keys.
      this.#log.warn('an attempt to unseal failed', { reason: 'no given key unlocks the store' });
      // A wrong key is an error of the caller; with the status of a sealed server, clients would retry.
      throw invalid(ownWords('unseal failed, invalid key'), {
        field: 'key',
        hint: 'run "coffer status --store STORE" on the server to see what unlocks the store',
      });
    }
    this.#keys = keys;
    this.#log.info('unsealed');
  }

  async #everybody(change: (member: Member) => Promise<void>): Promise<void> {
    await Promise.all([...this.#members].map(change));
  }

  async #alone<T>(change: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(change, change);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

/**
 * Returns the seal status.
 * @param progress number of recovery shares received
 */
export async function sealStatusOf(
  location: Location,
  sealed: boolean,
  progress: number,
): Promise<SealStatus> {
  const { id, slots } = await sealedView(location);
  const counts = slots.find(({ shares }) => shares !== undefined)?.shares ?? { count: 1, threshold: 1 };
  return { sealed, shares: counts.count, threshold: counts.threshold, progress, storeId: id };
}
