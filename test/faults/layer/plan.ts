/** What a fault is, and which call it strikes. */
import type { World } from './fixed-world.ts';

/** Calls that change something on disk (`reopen`: of a file that keeps its content), make it durable, or (the last two) tell somebody about it. */
export type ChangeKind =
  | 'create'
  | 'reopen'
  | 'write'
  | 'sync'
  | 'rename'
  | 'link'
  | 'unlink'
  | 'rmdir'
  | 'mkdir'
  | 'truncate'
  | 'attributes'
  | 'print'
  | 'exit';

/** Calls that only look. */
export type LookKind = 'open' | 'read' | 'stat' | 'list' | 'exists';

export interface Call {
  readonly kind: ChangeKind | LookKind;
  /** Of the file, or of the first of two. */
  readonly path: string;
  /** Where a rename or link leads. */
  readonly to?: string;
}

/** The process dies just before the call. */
export interface Kill {
  readonly kind: 'kill';
  /** In the midst of a write, when half of it is done. */
  readonly torn?: boolean;
  /** As when the power fails: of new files that were written and not synced, nothing but the name is left. */
  readonly losesData?: boolean;
}

/** The call fails with a code of the platform, such as `EIO`. */
interface Failure {
  readonly kind: 'failure';
  readonly code: string;
  /** What it was to do is done all the same, as on a network disk whose answer is lost. */
  readonly done?: boolean;
  /** Every later call of these kinds fails as well, until the layer is disarmed. */
  readonly lasting?: readonly Call['kind'][];
}

/** The process stops just before the call, until somebody lets it go on. */
interface Stop {
  readonly kind: 'stop';
  /** The numbers of later calls before which it stops as well. */
  readonly then?: readonly number[];
}

/** A write takes only half of the bytes; no error. */
interface ShortWrite {
  readonly kind: 'short';
}

export type Fault = Kill | Stop | Failure | ShortWrite;

/** A moment at which a process may be killed. */
export interface Moment {
  /** The number of the call that it is at, from 1. */
  readonly at: number;
  readonly fault: Kill;
}

/**
 * What a kill would leave at each of these moments is copied, and nobody is killed: a process that is gone has done what it had done,
 * and its locks are gone with it.
 */
export interface Copies {
  readonly moments: readonly Moment[];
  /** An empty directory elsewhere, for a copy of `root` at each moment, with its number in the list as its name. */
  readonly into: string;
}

export interface Plan {
  /** Only calls on what lies below this directory count. */
  readonly root: string;
  readonly watch: 'changes' | 'looks';
  readonly copies?: Copies;
  /** The number of the call to strike, from 1; undefined only counts. */
  readonly at?: number;
  readonly fault?: Fault;
}

const CHANGES: readonly string[] = [
  'create',
  'reopen',
  'write',
  'sync',
  'rename',
  'link',
  'unlink',
  'rmdir',
  'mkdir',
  'truncate',
  'attributes',
  'print',
  'exit',
] satisfies readonly ChangeKind[];

export const isChange = ({ kind }: Call): boolean => CHANGES.includes(kind);

/** What the environment variable `COFFER_TEST_FAULTS` holds, as JSON. */
export interface Orders {
  readonly world: World;
  readonly plan: Plan;
  /**
   * Nothing is left to the thread pool, and the process is as old at each of its steps however long it stood still, so that the same
   * program makes the same calls in the same order.
   */
  readonly inTurn?: boolean;
  /** Where to write the calls. */
  readonly trace?: string;
}
