/**
 * Storage port of the sealed store. A backend sees opaque, sealed blobs under opaque names; it knows no keys and no
 * documents. Implemented by files, memory and PostgreSQL.
 */
import type { Place, Text } from '../../ground/errors.ts';
import type { Version, Witness } from './witness.ts';

export type { Version } from './witness.ts';

/** Area of a blob. Slots are readable without a key; documents and everything else that is sealed are not. */
export type Area = 'slots' | 'documents';
export const areas: readonly Area[] = ['slots', 'documents'];

export interface BlobRef {
  readonly area: Area;
  /** Lower-case hexadecimal digits, which are safe in any path. */
  readonly name: string;
}

export interface Change {
  readonly ref: BlobRef;
  /** New content; undefined deletes the blob. */
  readonly bytes: Uint8Array | undefined;
}

export interface Blob {
  readonly ref: BlobRef;
  readonly bytes: Uint8Array;
}

export interface CommitOptions {
  /**
   * Whether this is the last commit of the session: the write lock may be released with the commit, before its result
   * is known.
   */
  readonly isLast?: boolean;
  /** Whether what the changes replace is not to be kept longer than necessary, as what they delete. */
  readonly forgetsReplaced?: boolean;
}

/** Exclusive write access, held by one session among all processes. */
export interface WriteSession {
  /** Current version, advanced by each commit. */
  readonly version: Version;
  /**
   * Applies all changes or none; durable once resolved. Writes nothing if there are no changes.
   * @throws `unavailable`; then nothing is changed, or the next writer completes the change
   * @see docs/decisions/0272
   */
  commit(changes: readonly Change[], options?: CommitOptions): Promise<Version>;
  /**
   * Writes the next generation beside the current one, switches to it in one step, then deletes the old one. If the
   * process is killed before the switch, the current generation stays.
   */
  replaceGeneration(blobs: AsyncIterable<Blob>): Promise<Version>;
  /** Applies all changes, if there are any, and raises the revision, as one commit. */
  raise(revision: number, changes?: readonly Change[]): Promise<void>;
}

/** Problem of the storage location itself, regardless of the blobs. */
export interface Flaw {
  readonly place: Place;
  /** Description, as the rest of a sentence that begins with the location. */
  readonly reason: string;
  readonly hint: Text;
}

/** Problem that was repaired. */
export interface Mend {
  readonly place: Place;
  /** What was done, as the rest of a sentence that begins with the location. */
  readonly done: string;
  /** Present if this was not repaired but is lost: how to have it again. */
  readonly lossHint?: string;
}

/**
 * Chooses the complete one of several generations if nothing else identifies the current one.
 * @throws `corrupt` if none is complete
 */
export type ChooseGeneration = (generations: readonly number[]) => Promise<number>;

/** Whether a blob opens under its name: nobody without the root key can have made it. */
export type OpensBlob = (ref: BlobRef, bytes: Uint8Array) => boolean;
/** Tells which blobs of a generation open; undefined if nothing unlocks the store now. */
export type OpensBlobs = (generation: number) => Promise<OpensBlob | undefined>;

export interface ExclusiveOptions {
  /** Time to wait for other writers, in milliseconds, if shorter than usual. */
  readonly waitMs?: number;
  /** Whether the session changes nothing, so that the store needs no room for it. */
  readonly isReading?: boolean;
}

export interface Backend {
  /** Locations for messages: of the whole store, its header, and a blob. */
  readonly place: Place;
  readonly headerPlace: Place;
  locate(generation: number, ref: BlobRef): Place;

  /**
   * Last-seen revision of the store through this backend: `state` and `exclusive` throw instead of accepting an older
   * one.
   */
  readonly witness: Witness;

  /**
   * Reads the unsealed description of the store.
   * @throws `not-found` if there is no store
   */
  header(): Promise<Uint8Array>;
  /** Format of what the store is in, where that has a number of its own; elsewhere it is that of the header. */
  format?(): Promise<number>;
  /**
   * Reads the current state, without waiting for a writer; cheap if it is unchanged since the last call (the same
   * object is returned).
   * @throws WentBack if the store was rolled back
   */
  state(): Promise<Version>;
  /**
   * Reads a blob; undefined if it does not exist. Consistent with other reads only if the state is still the same after
   * them.
   */
  read(generation: number, ref: BlobRef): Promise<Uint8Array | undefined>;
  has(generation: number, ref: BlobRef): Promise<boolean>;
  /**
   * Lists every name of an area, in no particular order.
   * @param isPartial whether those that are known are enough
   * @throws `corrupt` if damage may hide some, unless `isPartial`
   */
  names(generation: number, area: Area, isPartial?: boolean): Promise<string[]>;
  /** Lists unexpected files that do not belong to a store. */
  strays(): Promise<Place[]>;
  /**
   * Finds problems that prevent reading or writing the location, or excluding other writers; empty if there is no
   * store.
   */
  flaws(): Promise<readonly Flaw[]>;
  /**
   * Repairs whatever can be repaired without reading the blobs and without losing data, and finishes or removes
   * leftovers of killed sessions.
   * @param opens finds intact blobs where checksums are damaged
   * @throws `corrupt` for anything that it cannot repair
   */
  repair(choose: ChooseGeneration, opens?: OpensBlobs): Promise<readonly Mend[]>;

  /**
   * Runs `work` as the only session among all processes, after finishing or discarding leftovers of a killed session.
   * @throws `unavailable` if the write lock cannot be acquired within a bounded time; WentBack before anything is
   * changed
   */
  exclusive<T>(work: (session: WriteSession) => Promise<T>, options?: ExclusiveOptions): Promise<T>;

  /** Closes connections, if there are any. Operations in progress may fail. */
  close(): void;
}

/** Default time that a writer waits for other writers, in milliseconds. */
export const LOCK_WAIT_MS = 30_000;
/**
 * Default time to wait when a store is created, in milliseconds; only other processes that create a store there can be
 * in the way.
 */
export const CREATION_WAIT_MS = 10_000;

/** Initial content of a new backend. */
export interface InitialContent {
  readonly header: Uint8Array;
  readonly version: Version;
  readonly blobs: AsyncIterable<Blob> | Iterable<Blob>;
}
