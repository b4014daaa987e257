import { utf8 } from '../ground/bytes.ts';
import { asCofferError, invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import type { SealStatus, ServerState } from '../operations/declaration/operation.ts';
import { sealedView } from '../store/administration/status.ts';
import type { Location } from '../store/backends/backend-kind.ts';
import type { Sighting } from '../store/backends/witness.ts';
import { collectKeys } from './collect-keys.ts';
import type { Log } from './log.ts';
import { printMetrics, type Snapshot } from './metrics.ts';
import { forget, keysInText, shareIn, type UnsealKey } from './unseal-keys.ts';

/** A process that answers requests, as the one that controls it sees it. */
export interface Member {
  /** Opens the store. @throws `denied` when no key fits; what it was before it stays. */
  unseal(keys: readonly UnsealKey[]): Promise<void>;
  seal(): Promise<void>;
  reload(): Promise<void>;
  /** What it has seen of the store. */
  seen(): Promise<Sighting | undefined>;
  snapshot(): Promise<Snapshot>;
}

/**
 * Seals, unseals and counts for all processes of a server alike. Each change is done by every process before it is
 * acknowledged, and one change at a time.
 */
export class Control implements ServerState {
  readonly #location: Location;
  readonly #apiDocument: () => object;
  readonly #log: Log;
  readonly #members = new Set<Member>();
  /** Recovery shares given so far, all of one slot. */
  #shares = new Set<string>();
  #keys: readonly UnsealKey[] | undefined;
  #seen: Sighting | undefined;
  /** Processes that ended unasked. */
  #replaced = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(location: Location, log: Log, apiDocument: () => object) {
    this.#location = location;
    this.#log = log;
    this.#apiDocument = apiDocument;
  }

  /** What unsealed the server; undefined while it is sealed. */
  get keys(): readonly UnsealKey[] | undefined {
    return this.#keys;
  }

  /** The store was opened with these keys before any process asked for it. */
  unsealedWith(keys: readonly UnsealKey[]): void {
    this.#keys = keys;
  }

  /** Adds a process once `start` has brought it to the present state. */
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

  /** A process ended unasked. */
  replaced(): void {
    this.#replaced += 1;
  }

  /** The newest that any process has seen of the store, for one that is to join them. */
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
      if (share === undefined) return this.#unsealWith(keysInText(text));
      if (![...this.#shares].every((other) => shareIn(other)?.slot === share.slot)) this.#shares.clear();
      this.#shares.add(text.trim());
      if (this.#shares.size < share.threshold) return;
      const texts = [...this.#shares];
      this.#shares = new Set();
      return this.#unsealWith([{ kind: 'shares', texts: texts.map(utf8) }]);
    });
    return this.sealStatus();
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

  /** The first process finds out whether the keys are right; the others follow. */
  async #unsealWith(keys: readonly UnsealKey[]): Promise<void> {
    try {
      for (const member of this.#members) await member.unseal(keys);
    } catch (error) {
      forget(keys);
      const { kind } = asCofferError(error) ?? {};
      if (kind !== 'denied' && kind !== 'sealed') throw error;
      // Who has no token leaves no audit record: this is the only trace of somebody who tries keys.
      this.#log.warn('an attempt to unseal failed', { reason: 'no key fits' });
      // The wrong key is the caller's mistake; the status of a sealed server would have clients try it again.
      throw invalid(ownWords('unseal failed, invalid key'), {
        field: 'key',
        hint: 'see "coffer status" for what opens it',
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

/** @param progress how many recovery shares are there. */
export async function sealStatusOf(
  location: Location,
  sealed: boolean,
  progress: number,
): Promise<SealStatus> {
  const { id, slots } = await sealedView(location);
  const counts = slots.find(({ shares }) => shares !== undefined)?.shares ?? { count: 1, threshold: 1 };
  return { sealed, shares: counts.count, threshold: counts.threshold, progress, storeId: id };
}
