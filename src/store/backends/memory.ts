/** Stores in the memory of the process: for filling a new store, and for tests. */
import type { DatabasePlace, Place } from '../../ground/errors.ts';
import type {
  Area,
  Backend,
  BlobRef,
  Change,
  Flaw,
  InitialContent,
  Mend,
  Version,
  WriteSession,
} from './backend.ts';
import { versionOf, Witness } from './witness.ts';

type Blobs = Map<string, Uint8Array>;
const keyOf = (ref: BlobRef): string => `${ref.area}/${ref.name}`;

/** In-memory store, lost when the process exits. Several open stores may share one backend. */
export class MemoryBackend implements Backend {
  readonly place: DatabasePlace;
  readonly headerPlace: Place;
  readonly witness: Witness;
  readonly #header: Uint8Array;
  #state: Version;
  #blobs: Blobs;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(header: Uint8Array, version: Version, blobs: Blobs, place: string) {
    this.place = { database: place };
    this.headerPlace = { database: place, part: 'header' };
    this.witness = new Witness(this.place);
    this.#header = header;
    this.#state = version;
    this.#blobs = blobs;
  }

  /**
   * Creates a backend.
   * @param place name for messages
   */
  static async create({ header, version, blobs }: InitialContent, place = 'memory'): Promise<MemoryBackend> {
    return new MemoryBackend(Uint8Array.from(header), version, await collect(blobs), place);
  }

  locate(generation: number, ref: BlobRef): Place {
    return { ...this.place, part: `generation ${generation}, ${keyOf(ref)}` };
  }

  async header(): Promise<Uint8Array> {
    return this.#header;
  }

  async state(): Promise<Version> {
    return this.#state;
  }

  async read(generation: number, ref: BlobRef): Promise<Uint8Array | undefined> {
    const bytes = generation === this.#state.generation ? this.#blobs.get(keyOf(ref)) : undefined;
    return bytes === undefined ? undefined : Uint8Array.from(bytes);
  }

  async has(generation: number, ref: BlobRef): Promise<boolean> {
    return generation === this.#state.generation && this.#blobs.has(keyOf(ref));
  }

  async names(generation: number, area: Area): Promise<string[]> {
    if (generation !== this.#state.generation) return [];
    const prefix = `${area}/`;
    return [...this.#blobs.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length));
  }

  async strays(): Promise<Place[]> {
    return [];
  }

  async flaws(): Promise<readonly Flaw[]> {
    return [];
  }

  async repair(): Promise<readonly Mend[]> {
    return [];
  }

  async exclusive<T>(work: (session: WriteSession) => Promise<T>): Promise<T> {
    const run = this.#queue.then(() => work(this.#session()));
    this.#queue = run.catch(() => undefined);
    return run;
  }

  /** Does nothing: the data stays available to other handles. */
  close(): void {}

  #session(): WriteSession {
    const version = (): Version => versionOf(this.#state);
    const commit = (changes: readonly Change[]): void => {
      if (changes.length === 0) return;
      for (const { ref, bytes } of changes) {
        if (bytes === undefined) this.#blobs.delete(keyOf(ref));
        else this.#blobs.set(keyOf(ref), Uint8Array.from(bytes));
      }
      this.#advance(0);
    };
    return {
      get version() {
        return version();
      },
      async commit(changes) {
        commit(changes);
        return version();
      },
      replaceGeneration: async (blobs) => {
        this.#blobs = await collect(blobs);
        this.#advance(1);
        return version();
      },
      raise: async (revision, changes = []) => {
        commit(changes);
        this.#state = { ...this.#state, revision };
      },
    };
  }

  #advance(generations: 0 | 1): void {
    this.#state = {
      generation: this.#state.generation + generations,
      revision: this.#state.revision + 1,
    };
  }
}

async function collect(blobs: InitialContent['blobs']): Promise<Blobs> {
  const map: Blobs = new Map();
  for await (const { ref, bytes } of blobs) map.set(keyOf(ref), Uint8Array.from(bytes));
  return map;
}
