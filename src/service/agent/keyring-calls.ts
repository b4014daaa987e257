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
  /**
   * State of the files in which the keys were found; null if it cannot be determined whether the files are still the
   * same.
   */
  readonly identities: string | null;
}

/** Directory as a command sees it: the same path may lead to another one for an agent. */
export interface SeenDirectory {
  readonly path: string;
  /** Which one it is. */
  readonly file: string;
}

/** What a command is run with, which decides whether an agent may judge for it. */
export interface Asking {
  /** Version of Coffer. */
  readonly version: string;
  /** State of the files with the user's keys. */
  readonly identities: string;
  /** Directory of this machine's memory of keyrings. */
  readonly memory: SeenDirectory;
  /** Directory of the files, whose keyring and rules are asked about. */
  readonly directory: SeenDirectory;
}

/** Values of files in one directory, with the keyring as the command sees it. */
export interface KeyringReading extends Asking {
  /** Nearest keyring above their directory, and its listing. */
  readonly keyring: { readonly path: string; readonly listing: string };
  readonly values: readonly ValueToRead[];
}

/** Value to decrypt, as written in a file. */
export interface ValueToRead {
  readonly key: string;
  readonly version: number;
  readonly name: string;
  readonly payload: string;
}

/** Rules that are about to be used for files of a directory. */
export interface RulesInUse extends Asking {
  /** Directory that has the rules, and their text in base64; null if there are none. */
  readonly rules: { readonly directory: string; readonly bytes: string } | null;
}

/** Version of a key, with what was judged about it. */
export interface JudgedForAgent {
  readonly version: VersionOfKey;
  readonly isValid: boolean;
  readonly isBelieved: boolean;
}

/** Judges for commands of this user, as they would themselves. */
export interface KeyringJudge {
  /**
   * Judges the keyring in its present state.
   * @returns the versions of a key by name and number; undefined if the command has to judge by itself: because it sees
   * other files, or because there is something to tell its user
   */
  versionsFor(
    reading: KeyringReading,
  ): ((key: string, number: number) => readonly JudgedForAgent[]) | undefined;
  /** Whether rules are those that were used last. */
  areLastRules(rules: RulesInUse): boolean;
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
 * Calls that the agent of a keyring accepts. It uses root keys and never returns them, so everything that needs them,
 * such as a change of the team, needs the user's own key again.
 */
export interface KeyringCalls {
  /** Decrypts values. */
  open(values: readonly ValueToOpen[]): Promise<readonly SentOpening[]>;
  /**
   * Judges the keyring and decrypts values with versions that only members have.
   * @returns texts; null if the command has to do it by itself
   */
  read(reading: KeyringReading): Promise<readonly string[] | null>;
  /** Whether rules are those that were used last, so that there is nothing to ask. Does not count as a use. */
  areLastRules(rules: RulesInUse): Promise<boolean>;
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
  read: true,
  areLastRules: true,
  seal: true,
  cards: true,
  lock: true,
  status: true,
};
