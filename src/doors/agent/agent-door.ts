import type { Duplex } from 'node:stream';
import type { Desk } from './desk.ts';

/** What keys of a door may be used for. */
export interface DoorUse {
  readonly help: string;
  /** The operations that it takes, by their words in the catalogue. */
  readonly operations: readonly string[];
  /** Offered only when it is named. */
  readonly isExtra?: true;
}

/** What `transit keys read` tells of a key before it is offered. */
export interface OfferedKeyData {
  readonly type: string;
  readonly derived: boolean;
}

/**
 * A protocol through which programs use keys of the store that know nothing of Coffer. What stands here is all that others know of a
 * door; the door itself is loaded when the first program comes.
 * @see docs/decisions/0204
 */
export interface AgentDoorKind {
  /** A flag of `agent offer`, the name of the socket, and how the audit trail calls the door. */
  readonly name: string;
  /** What the flag is told to mean. */
  readonly help: string;
  /** By their names. */
  readonly uses: Readonly<Record<string, DoorUse>>;
  /** Operations that come with every key, by their words in the catalogue. */
  readonly needs: readonly string[];
  /** Why a key can't be offered here; undefined for one that can. */
  refusal(key: OfferedKeyData): string | undefined;
  /** What programs call a key that is offered, with what each name is for. */
  named?(key: {
    readonly mount: string;
    readonly key: string;
  }): readonly (readonly [what: string, name: string])[];
  /** With which variables programs find the socket. */
  variables(socket: string): Readonly<Record<string, string>>;
  /** They are printed only where the door is named: they would turn programs away from what they use otherwise. */
  readonly variablesOnRequest?: true;
  load(): Promise<OpenDoor>;
  /**
   * It ends a connection by itself once the other side has ended and has all its answers: who asks and says at once that nothing will
   * follow is answered all the same. Else a connection ends on both sides at once.
   */
  readonly endsItself?: true;
}

/**
 * Opens a door, once for each agent.
 * @returns what answers one connection, which it closes when the protocol is broken.
 */
export type OpenDoor = (desk: Desk) => (connection: Duplex) => void;

/** What is offered where nobody says for what. */
export const usualUses = ({ uses }: AgentDoorKind): readonly string[] =>
  Object.keys(uses).filter((name) => !uses[name]?.isExtra);
