import type { KeyObject } from 'node:crypto';
import { asCofferError } from '../../../ground/errors.ts';
import { keyOfSshBlob } from '../../../signatures/ssh-key.ts';
import { parseWireSignature, verifyWireSignature } from '../../../signatures/ssh-signature.ts';
import type { SessionBinding } from './messages.ts';
import type { SshSignedData } from './signed-data.ts';

/** Maximum number of bindings, the same as in OpenSSH: no connection has more hops. */
const MOST_BINDINGS = 16;
/**
 * Maximum RSA host key size. Longer keys are not in use, and verifying takes tens of milliseconds, which another
 * machine could request repeatedly.
 */
const MOST_MODULUS_BITS = 8192;
/** Maximum RSA public exponent: usually 65537, formerly 35 or 37; the work grows quadratically beyond. */
const MOST_EXPONENT = 2n ** 32n;

/**
 * SSH connections over which an agent client has come, as reported by ssh before any other request. A connection that
 * was forwarded from machine to machine has one binding for each.
 */
export class SessionBindings {
  readonly #known: SessionBinding[] = [];
  /** Number of attempts, including refused ones. */
  #tried = 0;
  /** Whether the request comes from another machine. */
  isForwarded = false;

  /**
   * Adds a binding.
   * @returns whether it was accepted: signed by the host, and not after a connection that is not forwarded
   */
  add(binding: SessionBinding): boolean {
    // A client that claims to be forwarded is treated as forwarded, even if the binding is otherwise invalid.
    if (binding.forwarding) this.isForwarded = true;
    const last = this.#known.at(-1);
    const isFinal = last !== undefined && !last.forwarding;
    if (isFinal || this.#tried >= MOST_BINDINGS) return false;
    this.#tried += 1;
    if (!isSigned(binding)) return false;
    this.#known.push(binding);
    return true;
  }

  /** Whether a login is over the last reported connection; any login if none was reported. */
  allows({ sessionId, hostKey }: Extract<SshSignedData, { kind: 'login' }>): boolean {
    const last = this.#known.at(-1);
    if (last === undefined) return true;
    const isSession = sessionId.equals(last.sessionId);
    return isSession && !last.forwarding && (hostKey === undefined || hostKey.equals(last.hostKey));
  }
}

function isSigned({ hostKey, sessionId, signature }: SessionBinding): boolean {
  try {
    const key = keyOfSshBlob(hostKey);
    return isQuick(key) && verifyWireSignature(key, parseWireSignature(signature), sessionId);
  } catch (error) {
    // Unsupported host key types, including certificates.
    if (asCofferError(error) === undefined) throw error;
    return false;
  }
}

/** Whether verifying with a key takes negligible time. */
function isQuick({
  asymmetricKeyDetails: { modulusLength = 0, publicExponent = 0n } = {},
}: KeyObject): boolean {
  return modulusLength <= MOST_MODULUS_BITS && publicExponent < MOST_EXPONENT;
}
