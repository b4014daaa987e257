import type { DocumentRef, Store } from '../store/store.ts';
import type { NamedKeyDocument } from './key-document.ts';

/**
 * Counts the messages that each version of a key has encrypted with random 96-bit nonces. After 2^32 of them under one
 * key the probability of a repeated nonce is no longer negligible (NIST SP 800-38D, 8.3), and two messages with the
 * same nonce can be decrypted. The count is approximate: it is kept in memory, and written from time to time, never for
 * a single message.
 * @see docs/decisions/0113
 */

/** Thresholds for the warnings that a key should, and must, be rotated. */
export const MANY_MESSAGES = 2 ** 31;
export const TOO_MANY_MESSAGES = 2 ** 32;
/** Smallest count that is shown. */
const SHOWN_FROM = 2 ** 20;
/** Smallest count that is written when a process exits. */
const WORTH_WRITING = 2 ** 12;

/**
 * Document in the collection of the mount's settings, one per key. Counts by version; `madeAt` distinguishes a later
 * key of the same name.
 */
interface CountDocument {
  readonly versions: Readonly<Record<string, { readonly madeAt: string; readonly messages: number }>>;
}

const refOf = (collection: string, name: string): DocumentRef => ({ collection, id: `messages/${name}` });

/** Part of a mount's engine that is needed. */
interface CountCollection {
  readonly settings: string;
}

interface Count {
  readonly ref: DocumentRef;
  /** Name of the key. */
  readonly key: string;
  readonly version: number;
  readonly madeAt: string;
  /** Count of all processes at the last write; undefined until it was read. */
  written: number | undefined;
  /** Count of this process that is not written yet. */
  messages: number;
}

/** Version of a key that has reached a threshold. */
export interface ManyMessages {
  /** Collection of the settings of the key's mount. */
  readonly settings: string;
  readonly key: string;
  readonly version: number;
  readonly messages: number;
}

interface MessageCountsOptions {
  readonly store: Store;
  /** The count of a version is written to the store once it has grown by this many messages since the last write. */
  readonly step: number;
  /** Called when a version of a key has reached a threshold. */
  readonly reached: (reached: ManyMessages) => void | Promise<void>;
}

export class MessageCounts {
  readonly #options: MessageCountsOptions;
  readonly #counts = new Map<string, Count>();
  /** Versions over the first threshold, by key. */
  readonly #many = new Map<string, { readonly version: number; readonly total: number }>();
  #writing: Promise<void> | undefined;

  constructor(options: MessageCountsOptions) {
    this.#options = options;
  }

  /** Counts one message; costs only a map lookup. */
  add(engine: CountCollection, document: NamedKeyDocument, version: number): void {
    const count = this.#countOf(engine, document, version);
    count.messages += 1;
    if (count.messages >= this.#options.step) void this.write(this.#options.step);
    const total = (count.written ?? 0) + count.messages;
    if (total >= MANY_MESSAGES) this.#many.set(keyOf(engine, document.name), { version, total });
    else if (this.#many.size > 0) this.#many.delete(keyOf(engine, document.name));
  }

  /** Returns a warning about the version that was last used to encrypt, as far as known in this process. */
  warning(engine: CountCollection, name: string): string | undefined {
    const many = this.#many.size === 0 ? undefined : this.#many.get(keyOf(engine, name));
    return many && warningOf(name, many.version, many.total);
  }

  /** Returns the large counts by version. */
  async of(engine: CountCollection, document: NamedKeyDocument): Promise<Readonly<Record<string, number>>> {
    const stored = await this.#options.store.read((view) =>
      view.get<CountDocument>(refOf(engine.settings, document.name)),
    );
    const totals = Object.entries(document.versions).map(([version, { createdAt }]) => {
      const written = stored?.versions[version];
      const own = this.#counts.get(idOf(engine, document.name, Number(version)));
      const messages =
        (written?.madeAt === createdAt ? written.messages : 0) +
        (own?.madeAt === createdAt ? own.messages : 0);
      return [version, messages] as const;
    });
    return Object.fromEntries(totals.filter(([, messages]) => messages >= SHOWN_FROM));
  }

  /**
   * Writes pending counts. Counts that cannot be written are kept for the next time.
   * @param least smaller counts stay in memory
   */
  async write(least = WORTH_WRITING): Promise<void> {
    this.#writing ??= this.#write(least)
      .catch(() => undefined)
      .finally(() => {
        this.#writing = undefined;
      });
    await this.#writing;
  }

  async #write(least: number): Promise<void> {
    for (const count of [...this.#counts.values()].filter(({ messages }) => messages >= least)) {
      const taken = count.messages;
      const id = String(count.version);
      const { key, version, madeAt } = count;
      const { before, after } = await this.#options.store.transact(async (tx) => {
        const versions = (await tx.get<CountDocument>(count.ref))?.versions ?? {};
        const known = versions[id]?.madeAt === madeAt ? versions[id].messages : 0;
        tx.put(count.ref, { versions: { ...versions, [id]: { madeAt, messages: known + taken } } });
        return { before: known, after: known + taken };
      });
      count.messages -= taken;
      count.written = after;
      for (const mark of [MANY_MESSAGES, TOO_MANY_MESSAGES]) {
        if (before < mark && after >= mark)
          await this.#options.reached({ settings: count.ref.collection, key, version, messages: after });
      }
    }
  }

  #countOf(engine: CountCollection, { name, versions }: NamedKeyDocument, version: number): Count {
    const id = idOf(engine, name, version);
    const madeAt = versions[String(version)]?.createdAt ?? '';
    const known = this.#counts.get(id);
    if (known?.madeAt === madeAt) return known;
    const count: Count = {
      ref: refOf(engine.settings, name),
      key: name,
      version,
      madeAt,
      written: undefined,
      messages: 0,
    };
    this.#counts.set(id, count);
    void this.#look(count);
    return count;
  }

  async #look(count: Count): Promise<void> {
    try {
      const stored = await this.#options.store.read((view) => view.get<CountDocument>(count.ref));
      const known = stored?.versions[String(count.version)];
      count.written ??= known?.madeAt === count.madeAt ? known.messages : 0;
    } catch {
      // Determined when the count is written.
    }
  }
}

const keyOf = (engine: CountCollection, name: string): string => `${engine.settings} ${name}`;
const idOf = (engine: CountCollection, name: string, version: number): string =>
  `${keyOf(engine, name)} ${version}`;

export const warningOf = (name: string, version: number, messages: number): string =>
  `version ${version} of key "${name}" has encrypted about ${messages} messages; rotate the key: nonces may repeat after ${TOO_MANY_MESSAGES} messages`;
