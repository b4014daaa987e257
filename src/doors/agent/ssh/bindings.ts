import type { KeyObject } from 'node:crypto';
import { unlessRefused } from '../../../ground/errors.ts';
import { rsaNumbers } from '../../../ground/foreign-keys.ts';
import { isSshCertificate, keyOfSshBlob, keyOfSshCertificate, sshBlob } from '../../../signatures/ssh-key.ts';
import { parseWireSignature, verifyWireSignature } from '../../../signatures/ssh-signature.ts';
import { SshReader } from '../../../signatures/ssh-wire.ts';
import type { SessionBinding } from './messages.ts';

/** Data to sign, as far as it can be recognized. */
export type SshSignedData =
  /** Login (RFC 4252, section 7), over the connection of the session ID. */
  | {
      readonly kind: 'login';
      readonly user: string;
      readonly sessionId: Buffer;
      /** Key to log in with; for a certificate of OpenSSH, the certified key. */
      readonly blob: Buffer;
      /** Host key of the server, or its certificate, if the client includes it. */
      readonly hostKey?: Buffer;
    }
  /** File or message (OpenSSH's PROTOCOL.sshsig). */
  | { readonly kind: 'message'; readonly namespace: string }
  | { readonly kind: 'other' };

const MAGIC = Buffer.from('SSHSIG');
const USERAUTH_REQUEST = 50;
const SERVICE = 'ssh-connection';
const PUBLIC_KEY = 'publickey';
/** OpenSSH's extension, which includes the host key. */
const HOST_BOUND = 'publickey-hostbound-v00@openssh.com';
/** Maximum length of a user or namespace in bytes: it is shown to the user. */
const MOST_TEXT_BYTES = 1024;

/** Parses data to sign. Anything that is not recognized for certain is `other`. */
export const signedDataOf = (data: Buffer): SshSignedData =>
  unlessRefused(() => (isMessage(data) ? messageOf(data) : loginOf(data)), OTHER);

const OTHER: SshSignedData = { kind: 'other' };

const isMessage = (data: Buffer): boolean => data.subarray(0, MAGIC.length).equals(MAGIC);

function messageOf(data: Buffer): SshSignedData {
  const reader = new SshReader(data.subarray(MAGIC.length), 'this');
  const namespace = shortText(reader);
  const reserved = reader.string();
  const hash = reader.text();
  const digest = reader.string();
  reader.end();
  const bytes = hash === 'sha512' ? 64 : hash === 'sha256' ? 32 : -1;
  const isOne =
    namespace !== undefined && namespace !== '' && reserved.length === 0 && digest.length === bytes;
  return isOne ? { kind: 'message', namespace } : OTHER;
}

function loginOf(data: Buffer): SshSignedData {
  const reader = new SshReader(data, 'this');
  const sessionId = reader.string();
  const type = reader.bytes(1)[0];
  const [user, service, method] = [shortText(reader), String(reader.string()), String(reader.string())];
  const hasSignature = reader.bytes(1)[0];
  const isBound = method === HOST_BOUND;
  if (type !== USERAUTH_REQUEST || hasSignature !== 1 || user === undefined) return OTHER;
  if (service !== SERVICE || (method !== PUBLIC_KEY && !isBound)) return OTHER;
  reader.string();
  const blob = plainKey(reader.string());
  const hostKey = isBound ? { hostKey: reader.string() } : {};
  reader.end();
  return { kind: 'login', user, sessionId, blob, ...hostKey };
}

/** Returns the certified key of a certificate for a user, and anything else unchanged. */
const plainKey = (blob: Buffer): Buffer =>
  isSshCertificate(blob) ? unlessRefused(() => sshBlob(keyOfSshCertificate(blob, 'user')), blob) : blob;

function shortText(reader: SshReader): string | undefined {
  const bytes = reader.string();
  return bytes.length > MOST_TEXT_BYTES ? undefined : bytes.toString('utf8');
}

/** Maximum number of bindings, the same as in OpenSSH: no connection has more hops. */
const MOST_BINDINGS = 16;
/**
 * Maximum RSA host key size, 8192 bits. Longer keys are not in use, and verifying takes tens of milliseconds, which another
 * machine could request repeatedly.
 */
const MOST_MODULUS_BYTES = 1024;
/** Maximum RSA public exponent: usually 65537, formerly 35 or 37; the work grows quadratically beyond. */
const MOST_EXPONENT_BYTES = 4;

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

  /**
   * Whether a login may be signed: one for the connection that ssh reported last, unless that one forwards the agent;
   * any login if none was reported.
   */
  allows({ sessionId, hostKey }: Extract<SshSignedData, { kind: 'login' }>): boolean {
    const last = this.#known.at(-1);
    if (last === undefined) return true;
    const isSession = sessionId.equals(last.sessionId);
    return isSession && !last.forwarding && (hostKey === undefined || hostKey.equals(last.hostKey));
  }
}

const isSigned = ({ hostKey, sessionId, signature }: SessionBinding): boolean =>
  // Fails for unsupported host key types.
  unlessRefused(() => {
    const key = keyOfHost(hostKey);
    return isQuick(key) && verifyWireSignature(key, parseWireSignature(signature), sessionId);
  }, false);

/** Decodes a host key. A host with a certificate sends that instead, and signs with the certified key. */
const keyOfHost = (blob: Buffer): KeyObject =>
  isSshCertificate(blob) ? keyOfSshCertificate(blob, 'host') : keyOfSshBlob(blob);

/** Whether verifying with a key takes negligible time. */
function isQuick(key: KeyObject): boolean {
  const numbers = rsaNumbers(key);
  if (numbers === undefined) return true;
  return numbers.modulus.length <= MOST_MODULUS_BYTES && numbers.exponent.length <= MOST_EXPONENT_BYTES;
}
