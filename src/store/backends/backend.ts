/**
 * What the sealed store asks of the place where its bytes are kept. A backend sees opaque, sealed blobs under
 * opaque names; it knows no keys and no documents. Files, memory and PostgreSQL implement it.
 */
import type { Place, Text } from '../../ground/errors.ts';
import type { Version } from './version.ts';
import type { Witness } from './witness.ts';

export type { Version } from './version.ts';

/** Slots are readable without a key, documents (and everything else that is sealed) are not. */
export type Area = 'slots' | 'documents';
export const areas: readonly Area[] = ['slots', 'documents'];

export interface BlobRef {
  readonly area: Area;
  /** Lower-case hexadecimal digits, so that a name is safe in any path. */
  readonly name: string;
}

export interface Change {
  readonly ref: BlobRef;
  /** The new content; undefined deletes the blob. */
  readonly bytes: Uint8Array | undefined;
}

export interface Blob {
  readonly ref: BlobRef;
  readonly bytes: Uint8Array;
}

export interface State extends Version {
  /** False while a commit is being applied, or was cut short: blobs may then be from before or after it. */
  readonly settled: boolean;
}

export interface CommitOptions {
  /** Nothing more comes in this session: the right to write may end with the commit, before its answer is there. */
  readonly isLast?: boolean;
}

/** The right to write, held by one session among all processes. */
export interface WriteSession {
  /** Always settled; moves on with each commit. */
  readonly version: Version;
  /**
   * Applies all changes or none; durable once resolved. No changes: nothing is written.
   * @throws `unavailable`; nothing is changed then, or the change is finished by whoever comes next.
   */
  commit(changes: readonly Change[], options?: CommitOptions): Promise<Version>;
  /**
   * Writes the next generation beside the present one, switches to it in one step, then deletes the old one.
   * Killed before the switch, the present one stays.
   */
  replaceGeneration(blobs: AsyncIterable<Blob>): Promise<Version>;
  /** Goes on from a higher revision, with nothing else changed. */
  raise(revision: number): Promise<void>;
}

/** What is wrong with the place itself, whatever is in the blobs. */
export interface Flaw {
  readonly place: Place;
  /** The rest of a sentence that begins with the place. */
  readonly reason: string;
  readonly hint: Text;
}

/** What was put right. */
export interface Mend {
  readonly place: Place;
  /** The rest of a sentence that begins with the place. */
  readonly done: string;
}

/** Says which of several generations is whole, where nothing else tells which is the present one. @throws `corrupt` when none is. */
export type ChooseGeneration = (generations: readonly number[]) => Promise<number>;

/** A state that can be read though somebody may be in the midst of a commit. */
export interface Followed {
  /**
   * Settled when all of it belongs to this version; else one blob may be of this version or of the one before, as long as
   * the state stays the same.
   */
  readonly state: State;
  /** The store as it is in this state. */
  readonly view: Backend;
}

export interface ExclusiveOptions {
  /** Milliseconds to wait for the others, where less than usual will do. */
  readonly waitMs?: number;
}

export interface Backend {
  /** For messages: the whole store, its header, a blob. */
  readonly place: Place;
  readonly headerPlace: Place;
  locate(generation: number, ref: BlobRef): Place;

  /** What was seen of the store through this backend: `state` and `exclusive` throw rather than go behind it. */
  readonly witness: Witness;

  /** The unsealed description of the store. @throws `not-found` when there is no store. */
  header(): Promise<Uint8Array>;
  /**
   * The present state; cheap when it is settled and unchanged since the last call (the same object is returned).
   * @throws WentBack
   */
  state(): Promise<State>;
  /**
   * The present state, read without the right to write and without waiting for whoever has it. There where a state may be
   * unsettled.
   */
  follow?(): Promise<Followed>;
  /** A blob's bytes, or undefined. Not consistent with other reads unless the state is the same after them. */
  read(generation: number, ref: BlobRef): Promise<Uint8Array | undefined>;
  has(generation: number, ref: BlobRef): Promise<boolean>;
  /** Every name of an area, in no particular order. */
  names(generation: number, area: Area): Promise<string[]>;
  /** Things found that belong to no store. */
  strays(): Promise<Place[]>;
  /** What keeps the place from being read or written, or others from being kept out; empty when there is no store. */
  flaws(): Promise<readonly Flaw[]>;
  /**
   * Puts right whatever can be without a look into the blobs and with nothing lost, and finishes or clears away what killed
   * sessions left.
   * @throws `corrupt` for what it can't put right.
   */
  repair(choose: ChooseGeneration): Promise<readonly Mend[]>;

  /**
   * Runs `work` as the only session among all processes, after finishing or discarding what a killed one left.
   * @throws `unavailable` when the right to write can't be had within a bounded time; WentBack before anything is touched.
   */
  exclusive<T>(work: (session: WriteSession) => Promise<T>, options?: ExclusiveOptions): Promise<T>;

  /** Lets go of connections, if there are any. What is under way may fail. */
  close(): void;
}

/** Milliseconds that a writer waits for the others, where nothing else is said. */
export const LOCK_WAIT_MS = 30_000;
/** The same for whoever makes a store, with whom only others can be in the way who do so, too. */
export const CREATION_WAIT_MS = 10_000;

/** What a new backend is filled with. */
export interface InitialContent {
  readonly header: Uint8Array;
  readonly version: Version;
  readonly blobs: AsyncIterable<Blob>;
}
