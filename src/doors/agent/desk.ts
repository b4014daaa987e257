import type { Offer } from '../../access/doors.ts';
import { unavailable } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { type Outcome, resultOf } from '../../operations/declaration/operation.ts';

/** Everything an agent protocol can access: its offered keys. */
export interface Desk {
  /**
   * Returns the offers, oldest first.
   * @param how `quietly`: do not ask the user to unlock the store; operations run after that do not ask, either, so
   * that a store that has locked again stays locked
   * @throws `sealed` if the store is locked; `unavailable`
   */
  offers(how?: 'quietly'): Promise<readonly Offer[]>;
  /**
   * Runs an operation as the protocol's identity: policies, auditing and limits apply as for a token.
   * @param operation its words in the catalogue, e.g. `transit sign`
   * @param raw wire name → JSON value
   * @throws errors of the operation; `denied` for anything not offered; `sealed`
   */
  run(operation: string, raw: Readonly<Record<string, unknown>>, mount: string): Promise<Outcome<unknown>>;
  /**
   * Asks the user to confirm the use of a key, if its offer requires that.
   * @param what description of the use: `sign in as root`. Text from a program is shown unchanged.
   * @param gone aborted when the client no longer waits
   * @throws `denied` if the user refuses, or cannot be asked
   */
  consent(offer: Offer, what: string, gone: AbortSignal): Promise<void>;
  /**
   * Revision of the store; changes with every commit. Absent if it is not available.
   * @throws `sealed`, `unavailable`
   */
  revision?(): Promise<string>;
  /** Logs an internal error. */
  defect(error: unknown): void;
}

/** Asks the user for confirmation. Resolves to false if prompting is not possible. */
export type Ask = (question: string, gone: AbortSignal) => Promise<boolean>;

/** Returns the unique name of a key for users and programs: with its mount, unless that is the default one. */
export const keyNameOf = ({ mount, key }: { readonly mount: string; readonly key: string }): string =>
  mount === DEFAULT_MOUNT ? key : `${mount}/${key}`;

/** Returns the command that offers a key to the programs of a protocol. */
export const offerCommand = (kind: string, name: { readonly mount: string; readonly key: string }): string =>
  `coffer agent offer ${name.key} --${kind}${name.mount === DEFAULT_MOUNT ? '' : ` --mount ${name.mount}`}`;

/** Extracts members from responses, which may come from a foreign server. */

/**
 * Returns a text member.
 * @throws `unavailable` if the response lacks it
 */
export function memberOf(answer: Outcome<unknown>, member: string): string {
  const data = resultOf(answer);
  const text = isObject(data) ? data[member] : undefined;
  if (typeof text === 'string') return text;
  throw unavailable(`unexpected response of the server: it has no ${member}`);
}

/**
 * Returns the plaintext.
 * @throws as `memberOf`
 */
export const plaintextIn = (answer: Outcome<unknown>): Buffer =>
  Buffer.from(memberOf(answer, 'plaintext'), 'base64');

/**
 * Returns the signature without the prefix with its version.
 * @throws as `memberOf`
 */
export function signatureIn(answer: Outcome<unknown>, encoding: 'base64' | 'base64url' = 'base64'): Buffer {
  const text = memberOf(answer, 'signature');
  return Buffer.from(text.slice(text.lastIndexOf(':') + 1), encoding);
}
