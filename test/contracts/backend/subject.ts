import type { Backend } from '../../../src/store/backends/backend.ts';
import type { BackendKind, Located } from '../../../src/store/backends/backend-kind.ts';

/**
 * Reason why a backend cannot be tested for a part of the contract, which is shown in the title of the skipped cases.
 */
export interface Cannot {
  readonly cannot: string;
}

/** Value that a module exports, by which another process finds it. */
export interface Exported {
  /** URL of the module. */
  readonly module: string;
  readonly name: string;
}

/** Restores a copy of a whole store, replacing later changes. */
export type BringBack = () => Promise<void>;

/** Kind of backend, with the information needed to test it for the contract in `backend.ts` and `backend-kind.ts`. */
export interface BackendSubject {
  readonly kind: Pick<BackendKind, 'create' | 'open'>;
  /** Returns a location without a store, which is cleaned up after the test. */
  location(): Located;
  /** `kind`, for other processes. */
  readonly exported: Exported | Cannot;
  /** Whether a location with a store is distinguished from one without. */
  readonly places: 'told apart' | Cannot;
  /** Whether writers wait no longer than their timeout. */
  readonly waits: 'bounded' | Cannot;
  /** Copies a whole store without the backend, like a disk backup. */
  readonly copy: ((location: Located) => Promise<BringBack>) | Cannot;
  /**
   * Runs a commit.
   * @returns whether it had been synced to disk when it was acknowledged; since no test can cut the power, each backend
   * uses its own evidence
   * @see docs/decisions/0272
   */
  readonly reachesDisk: ((backend: Backend, commit: () => Promise<unknown>) => Promise<boolean>) | Cannot;
  /**
   * Runs the creation of a store.
   * @returns whether it had been synced to disk when it was acknowledged, with the names by which it is found, as far as
   * the backend can show that
   */
  readonly creationReachesDisk:
    | ((location: Located, create: () => Promise<unknown>) => Promise<boolean>)
    | Cannot;
  /** Returns all local files and directories of a store. */
  readonly files: ((location: Located) => readonly string[]) | Cannot;
  /** Time after which an operation is considered endless, in milliseconds. */
  readonly patienceMs: number;
}

/** Parts of the contract that not every backend can be tested for. */
export type Ability =
  | 'exported'
  | 'places'
  | 'waits'
  | 'copy'
  | 'reachesDisk'
  | 'creationReachesDisk'
  | 'files';

/** Returns the reason why a backend cannot be tested for a part; undefined if it can. */
export function whyNot(subject: BackendSubject, ability: Ability | undefined): string | undefined {
  const value = ability === undefined ? undefined : subject[ability];
  return typeof value === 'object' && 'cannot' in value ? value.cannot : undefined;
}

/** Returns the value of a subject for a part that it can be tested for. */
export function able<A extends Ability>(
  subject: BackendSubject,
  ability: A,
): Exclude<BackendSubject[A], Cannot> {
  const value: BackendSubject[A] = subject[ability];
  if (typeof value === 'object' && 'cannot' in value) throw new Error(`${ability}: ${value.cannot}`);
  return value as Exclude<BackendSubject[A], Cannot>;
}
