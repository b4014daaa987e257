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
interface Kill {
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
}

/** A write takes only half of the bytes; no error. */
interface ShortWrite {
  readonly kind: 'short';
}

export type Fault = Kill | Stop | Failure | ShortWrite;

export interface Plan {
  /** Only calls on what lies below this directory count. */
  readonly root: string;
  readonly watch: 'changes' | 'looks';
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
  /** Where to write the calls. */
  readonly trace?: string;
}
