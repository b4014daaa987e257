import type { Backend } from '../../../src/store/backends/backend.ts';
import type { BackendKind, Located } from '../../../src/store/backends/backend-kind.ts';

/** Stands where a backend has no means to be held to a promise; the reason is in the title of the cases that are left out. */
export interface Cannot {
  readonly cannot: string;
}

/** A value that a module exports, by which another process finds it. */
export interface Exported {
  /** URL of the module. */
  readonly module: string;
  readonly name: string;
}

/** Puts a copy of a whole store back over what has become of it since. */
export type BringBack = () => Promise<void>;

/** One kind of backend, and what the contract has to know to hold it to what `backend.ts` and `backend-kind.ts` promise. */
export interface BackendSubject {
  readonly kind: Pick<BackendKind, 'create' | 'open'>;
  /** A place where no store is yet; cleared away after the test. */
  location(): Located;
  /** `kind`, for other processes. */
  readonly exported: Exported | Cannot;
  /** Whether a place that holds a store is told from one that does not. */
  readonly places: 'told apart' | Cannot;
  /** Whether a writer waits for others no longer than it is told to. */
  readonly waits: 'bounded' | Cannot;
  /** Copies a whole store past the backend, as whoever keeps backups of disks does. */
  readonly copy: ((location: Located) => Promise<BringBack>) | Cannot;
  /**
   * Runs a commit, and tells whether it had been brought to the disk when it was acknowledged. No test can cut the power, so each
   * backend says by what it tells, and what that shows.
   * @see docs/decisions/0272
   */
  readonly reachesDisk: ((backend: Backend, commit: () => Promise<unknown>) => Promise<boolean>) | Cannot;
  /** Everything of a store that lies on this machine: files and directories. */
  readonly files: ((location: Located) => readonly string[]) | Cannot;
  /** Milliseconds after which something that should be over counts as without end. */
  readonly patienceMs: number;
}

/** The promises that not every backend can be held to. */
export type Ability = 'exported' | 'places' | 'waits' | 'copy' | 'reachesDisk' | 'files';

/** Why a backend can't be held to a promise; undefined when it can. */
export function whyNot(subject: BackendSubject, ability: Ability | undefined): string | undefined {
  const value = ability === undefined ? undefined : subject[ability];
  return typeof value === 'object' && 'cannot' in value ? value.cannot : undefined;
}

/** What a subject says of a promise that it can be held to. */
export function able<A extends Ability>(
  subject: BackendSubject,
  ability: A,
): Exclude<BackendSubject[A], Cannot> {
  const value: BackendSubject[A] = subject[ability];
  if (typeof value === 'object' && 'cannot' in value) throw new Error(`${ability}: ${value.cannot}`);
  return value as Exclude<BackendSubject[A], Cannot>;
}
