import {
  AGENT_MESSAGE,
  agentMessage,
  LENGTH_BYTES,
  MOST_MESSAGE_BYTES,
} from '../../../signatures/ssh-agent-messages.ts';
import { SshReader, string, uint32 } from '../../../signatures/ssh-wire.ts';

/*
 * Messages of the SSH agent protocol (draft-ietf-sshm-ssh-agent, and OpenSSH's PROTOCOL.agent), as an agent parses and
 * formats them.
 */

const LOCK = 22;
const UNLOCK = 23;
const EXTENSION = 27;

const SUCCESS = 6;
const EXTENSION_FAILURE = 28;
const EXTENSION_RESPONSE = 29;

const RSA_SHA2_256 = 2;
const RSA_SHA2_512 = 4;

/** Hash of an RSA signature. */
type RsaHash = 'sha256' | 'sha512';

/** Request of a client. */
export type AgentRequest =
  | { readonly kind: 'list' }
  | {
      readonly kind: 'sign';
      /** Public key in SSH's encoding. */
      readonly blob: Buffer;
      readonly data: Buffer;
      /** Hash of an RSA signature; undefined for SHA-1, that of the original RSA signature algorithm. */
      readonly rsaHash: RsaHash | undefined;
    }
  | { readonly kind: 'lock' | 'unlock'; readonly passphrase: Buffer }
  | { readonly kind: 'bind'; readonly binding: SessionBinding }
  | { readonly kind: 'query' }
  /** Unknown extension, which gets a different response than a failed one. */
  | { readonly kind: 'other' };

/** SSH connection over which the agent is used: `session-bind@openssh.com`. */
export interface SessionBinding {
  readonly hostKey: Buffer;
  readonly sessionId: Buffer;
  /** Host's signature of the session: string of its algorithm, string of the signature. */
  readonly signature: Buffer;
  /** Whether the connection forwards the agent to another machine. */
  readonly forwarding: boolean;
}

/** Supported extensions by name, which `query` returns. */
const SESSION_BIND = 'session-bind@openssh.com';
const QUERY = 'query';

/**
 * Parses a message without its length.
 * @throws `invalid` if a known message is malformed
 */
export function parseAgentRequest(message: Buffer): AgentRequest {
  const reader = new SshReader(message, 'this message');
  const type = reader.bytes(1)[0];
  const request = bodyOf(type, reader);
  if (request.kind !== 'other') reader.end();
  return request;
}

function bodyOf(type: number | undefined, reader: SshReader): AgentRequest {
  switch (type) {
    case AGENT_MESSAGE.requestIdentities:
      return { kind: 'list' };
    case AGENT_MESSAGE.signRequest: {
      const [blob, data] = [reader.string(), reader.string()];
      return { kind: 'sign', blob, data, rsaHash: rsaHashOf(reader.uint32()) };
    }
    case LOCK:
      return { kind: 'lock', passphrase: reader.string() };
    case UNLOCK:
      return { kind: 'unlock', passphrase: reader.string() };
    case EXTENSION:
      return extensionOf(reader.text(), reader);
    default:
      return { kind: 'other' };
  }
}

function rsaHashOf(flags: number): RsaHash | undefined {
  if ((flags & RSA_SHA2_256) !== 0) return 'sha256';
  return (flags & RSA_SHA2_512) === 0 ? undefined : 'sha512';
}

function extensionOf(name: string, reader: SshReader): AgentRequest {
  if (name === QUERY) return { kind: 'query' };
  if (name !== SESSION_BIND) return { kind: 'other' };
  const [hostKey, sessionId, signature] = [reader.string(), reader.string(), reader.string()];
  const forwarding = reader.bytes(1)[0] !== 0;
  return { kind: 'bind', binding: { hostKey, sessionId, signature, forwarding } };
}

/** Offered key. */
export interface SshIdentity {
  readonly blob: Buffer;
  readonly comment: string;
}

export const failure: Buffer = agentMessage(AGENT_MESSAGE.failure);
export const success: Buffer = agentMessage(SUCCESS);
export const extensionFailure: Buffer = agentMessage(EXTENSION_FAILURE);
export const queryAnswer: Buffer = agentMessage(EXTENSION_RESPONSE, string(QUERY), string(SESSION_BIND));

/** Formats as many identities as fit into a message. */
export function identitiesAnswer(identities: readonly SshIdentity[]): Buffer {
  const parts: Buffer[] = [];
  let bytes = 1 + LENGTH_BYTES;
  for (const { blob, comment } of identities) {
    const part = Buffer.concat([string(blob), string(comment)]);
    bytes += part.length;
    if (bytes > MOST_MESSAGE_BYTES) break;
    parts.push(part);
  }
  return agentMessage(AGENT_MESSAGE.identitiesAnswer, uint32(parts.length), ...parts);
}

/**
 * Formats a signature.
 * @param blob signature with the name of its algorithm, in SSH's encoding
 */
export const signAnswer = (blob: Buffer): Buffer => agentMessage(AGENT_MESSAGE.signResponse, string(blob));
