import { asCofferError } from '../../../ground/errors.ts';
import { SshReader } from '../../../signatures/ssh-wire.ts';

/** Data to sign, as far as it can be recognized. */
export type SshSignedData =
  /** Login (RFC 4252, section 7), over the connection of the session ID. */
  | {
      readonly kind: 'login';
      readonly user: string;
      readonly sessionId: Buffer;
      readonly blob: Buffer;
      /** Host key of the server, if the client includes it. */
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
/** Maximum length of a user, service or namespace in bytes: it is shown to the user. */
const MOST_TEXT_BYTES = 1024;

/** Parses data to sign. Anything that is not recognized for certain is `other`. */
export function signedDataOf(data: Buffer): SshSignedData {
  try {
    return isMessage(data) ? messageOf(data) : loginOf(data);
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return OTHER;
  }
}

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
  const [user, service, method] = [shortText(reader), shortText(reader), shortText(reader)];
  const hasSignature = reader.bytes(1)[0];
  const isBound = method === HOST_BOUND;
  if (type !== USERAUTH_REQUEST || hasSignature !== 1 || user === undefined) return OTHER;
  if (service !== SERVICE || (method !== PUBLIC_KEY && !isBound)) return OTHER;
  reader.string();
  const blob = reader.string();
  const hostKey = isBound ? { hostKey: reader.string() } : {};
  reader.end();
  return { kind: 'login', user, sessionId, blob, ...hostKey };
}

function shortText(reader: SshReader): string | undefined {
  const bytes = reader.string();
  return bytes.length > MOST_TEXT_BYTES ? undefined : bytes.toString('utf8');
}
