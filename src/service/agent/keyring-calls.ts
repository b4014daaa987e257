import type { VersionOfKey } from '../../team/fact.ts';
import type { CallNames } from '../rpc.ts';
import type { AgentStatus, UnlockTimes } from './calls.ts';

/**
 * Protocol between commands and the agent of a keyring, over a Unix socket.
 * @see docs/decisions/0307
 */

/** Opened keyring, as it is handed to its agent. */
export interface HandedKeyring extends UnlockTimes {
  /** ID of the keyring. */
  readonly store: string;
  /** IDs of the cards whose keys opened it. */
  readonly cards: readonly string[];
  /** Root keys by epoch. */
  readonly roots: ReadonlyMap<string, Buffer>;
  /** Epochs with which values may be encrypted. */
  readonly usable: readonly string[];
}

/** Value to decrypt with any of several versions of its key. */
export interface ValueToOpen {
  readonly versions: readonly VersionOfKey[];
  readonly name: string;
  readonly payload: string;
}

/** Opened value: the index of the version, and the text in base64. */
export interface SentOpening {
  /** Indices of the versions whose root keys it has. */
  readonly known: readonly number[];
  readonly opened: readonly { readonly at: number; readonly bytes: string }[];
}

export interface ValuesToSeal {
  readonly version: VersionOfKey;
  readonly values: readonly { readonly name: string; readonly source: string }[];
}

/**
 * Calls that the agent of a keyring accepts. It uses root keys and never returns them, so whatever needs them, such as
 * a change of the team, needs the user's own key again.
 */
export interface KeyringCalls {
  /** Decrypts values. */
  open(values: readonly ValueToOpen[]): Promise<readonly SentOpening[]>;
  /** Encrypts values; null if it has no root key that may be used for this version. */
  seal(values: ValuesToSeal): Promise<readonly string[] | null>;
  /** IDs of the cards whose keys opened the keyring. */
  cards(): Promise<readonly string[]>;
  /** Forgets the keys and exits. */
  lock(): Promise<void>;
  /** Returns the status. Does not count as a use. */
  status(): Promise<AgentStatus>;
}

export const KEYRING_CALLS: CallNames<KeyringCalls> = {
  open: true,
  seal: true,
  cards: true,
  lock: true,
  status: true,
};
