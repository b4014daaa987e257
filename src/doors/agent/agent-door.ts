import type { Duplex } from 'node:stream';
import type { KeyProtocol } from '../../transit/key-types/key-type.ts';
import type { Desk } from './desk.ts';

/** Use that keys can be offered for. */
interface DoorUse {
  /** What the program may do, in help. */
  readonly help: string;
  /** Operations that it requires, by their words in the catalogue. */
  readonly operations: readonly string[];
  /** Present if it is offered only on request. */
  readonly isExtra?: true;
}

/** Facts about a key that are checked before it is offered. */
export interface OfferedKeyData {
  /** Name of its key type. */
  readonly type: string;
  readonly derived: boolean;
  /** Whether keys of its type encrypt arbitrary data. */
  readonly encryptsData: boolean;
  /** Returns the names of the types whose keys have a form in a protocol. */
  typesIn(protocol: KeyProtocol): readonly string[];
}

/**
 * Agent protocol (ssh, PKCS #11, age, sops). This is its static description; the implementation is loaded on the first
 * connection.
 * @see docs/decisions/0204
 */
export interface AgentDoorKind {
  /** Name of its flag of `agent offer`, of the socket, and in the audit log. */
  readonly name: string;
  /** Programs that use it, in help. */
  readonly programs: string;
  /** Uses by name. */
  readonly uses: Readonly<Record<string, DoorUse>>;
  /** Operations that come with every key, by their words in the catalogue. */
  readonly needs: readonly string[];
  /** Returns why a key cannot be offered; undefined if it can. */
  refusal(key: OfferedKeyData): string | undefined;
  /** Returns the names of an offered key for programs, with a description of each. */
  named?(key: {
    readonly mount: string;
    readonly key: string;
  }): readonly (readonly [what: string, name: string])[];
  /** Returns the environment variables with which programs find the socket. */
  variables(socket: string): Readonly<Record<string, string>>;
  /** Print the variables only on request: they would replace, for example, another ssh-agent. */
  readonly variablesOnRequest?: true;
  load(): Promise<OpenDoor>;
  /**
   * Present if the implementation closes a connection itself after the peer has ended its side and received all
   * responses: a request followed by the end of the stream is still answered. Otherwise a connection is closed on both
   * sides at once.
   */
  readonly endsItself?: true;
}

/**
 * Opens a protocol, once per agent.
 * @returns function that serves one connection, and closes it if the protocol is violated
 */
export type OpenDoor = (desk: Desk) => (connection: Duplex) => void;

/** Uses that are offered by default. */
export const usualUses = ({ uses }: AgentDoorKind): readonly string[] =>
  Object.keys(uses).filter((name) => !uses[name]?.isExtra);

/**
 * Returns why a key cannot encrypt for a program that only supplies data; undefined if it can.
 * @param who name of the program
 */
export function sealingRefusal(
  who: string,
  { type, derived, encryptsData, typesIn }: OfferedKeyData,
): string | undefined {
  if (derived) return `derived keys need a context, which ${who} does not send`;
  if (encryptsData) return undefined;
  return typesIn('age').includes(type)
    ? `keys of type ${type} encrypt only the keys of age files`
    : `keys of type ${type} cannot encrypt`;
}
