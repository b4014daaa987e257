import type { KeyObject } from 'node:crypto';
import { asCofferError } from '../../../ground/errors.ts';
import { keyOfSshBlob } from '../../../signatures/ssh-key.ts';
import { parseWireSignature, verifyWireSignature } from '../../../signatures/ssh-signature.ts';
import type { Binding } from './messages.ts';
import type { SignedData } from './signed-data.ts';

/** Nobody hops over more machines; as OpenSSH has it. */
const MOST_BINDINGS = 16;
/** Of host keys with RSA. Longer ones are in no use, and take tens of milliseconds to verify with, which another machine could ask for again and again. */
const MOST_MODULUS_BITS = 8192;
/** 65537 as a rule, 35 or 37 of old; beyond this the work grows by the square. */
const MOST_EXPONENT = 2n ** 32n;

/**
 * Over which connections of ssh a client of the agent has come, as it told itself: ssh says so first, before it asks for anything.
 * A connection that was forwarded from machine to machine has one binding for each.
 */
export class Bindings {
  readonly #known: Binding[] = [];
  /** Refused ones as well. */
  #tried = 0;
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
    if (isFinal || this.#tried >= MOST_BINDINGS) return false;
    this.#tried += 1;
    if (!isSigned(binding)) return false;
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
    const key = keyOfSshBlob(hostKey);
    return isQuick(key) && verifyWireSignature(key, parseWireSignature(signature), sessionId);
  } catch (error) {
    // Kinds of host keys that are not known here, certificates among them.
    if (asCofferError(error) === undefined) throw error;
    return false;
  }
}

/** Whether it takes no time that matters to verify with a key. */
function isQuick({
  asymmetricKeyDetails: { modulusLength = 0, publicExponent = 0n } = {},
}: KeyObject): boolean {
  return modulusLength <= MOST_MODULUS_BITS && publicExponent < MOST_EXPONENT;
}
