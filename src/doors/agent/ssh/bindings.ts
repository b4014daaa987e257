import { asCofferError } from '../../../ground/errors.ts';
import { keyOfSshBlob } from '../../../signatures/ssh-key.ts';
import { parseWireSignature, verifyWireSignature } from '../../../signatures/ssh-signature.ts';
import type { Binding } from './messages.ts';
import type { SignedData } from './signed-data.ts';

/** Nobody hops over more machines; as OpenSSH has it. */
const MOST_BINDINGS = 16;

/**
 * Over which connections of ssh a client of the agent has come, as it told itself: ssh says so first, before it asks for anything.
 * A connection that was forwarded from machine to machine has one binding for each.
 */
export class Bindings {
  readonly #known: Binding[] = [];
  #isForwarded = false;

  /** Whether the agent is asked from another machine. */
  get isForwarded(): boolean {
    return this.#isForwarded;
  }

  /** @returns whether it was taken: signed by the host, and nothing follows a connection that is not forwarded. */
  add(binding: Binding): boolean {
    // Whoever says so himself is believed, whatever else is wrong with it.
    if (binding.forwarding) this.#isForwarded = true;
    const last = this.#known.at(-1);
    const isFinal = last !== undefined && !last.forwarding;
    if (isFinal || this.#known.length >= MOST_BINDINGS || !isSigned(binding)) return false;
    this.#known.push(binding);
    return true;
  }

  /** Whether a log-in is one over the connection that was told last; where none was told, any is. */
  allows({ sessionId, hostKey }: Extract<SignedData, { kind: 'login' }>): boolean {
    const last = this.#known.at(-1);
    if (last === undefined) return true;
    const isSession = sessionId.equals(last.sessionId);
    return isSession && !last.forwarding && (hostKey === undefined || hostKey.equals(last.hostKey));
  }
}

function isSigned({ hostKey, sessionId, signature }: Binding): boolean {
  try {
    return verifyWireSignature(keyOfSshBlob(hostKey), parseWireSignature(signature), sessionId);
  } catch (error) {
    // Kinds of host keys that are not known here, certificates among them.
    if (asCofferError(error) === undefined) throw error;
    return false;
  }
}
