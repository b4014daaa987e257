import type { ByteQueue } from '../ground/byte-queue.ts';
import { denied, invalid } from '../ground/errors.ts';
import { SshReader, string, uint32 } from './ssh-wire.ts';

/*
 * Messages of the SSH agent protocol (draft-ietf-sshm-ssh-agent): a type byte, and its contents. Each is sent with a
 * length prefix. An agent parses requests and formats responses, a client the reverse.
 */

/** Maximum message length, the same as in OpenSSH. */
export const MOST_MESSAGE_BYTES = 256 * 1024;
export const LENGTH_BYTES = 4;

/** Types of the messages that both an agent and a client use. */
export const AGENT_MESSAGE = {
  failure: 5,
  requestIdentities: 11,
  identitiesAnswer: 12,
  signRequest: 13,
  signResponse: 14,
} as const;

/** Formats a message, with its length. */
export function agentMessage(type: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from([type]), ...parts]);
  return Buffer.concat([uint32(body.length), body]);
}

/**
 * Takes the next message, without its length; undefined if it is not complete yet.
 * @throws `invalid` for an impossible length
 */
export function takeMessage(come: ByteQueue): Buffer | undefined {
  const length = come.peek(LENGTH_BYTES)?.readUInt32BE();
  if (length === undefined) return undefined;
  if (length === 0 || length > MOST_MESSAGE_BYTES) throw invalid(`invalid message length ${length}`);
  return come.take(LENGTH_BYTES + length)?.subarray(LENGTH_BYTES);
}

export const identitiesRequest: Buffer = agentMessage(AGENT_MESSAGE.requestIdentities);

/**
 * Formats a request for a signature.
 * @param blob public key in SSH's encoding
 */
export const signRequest = (blob: Buffer, data: Buffer): Buffer =>
  agentMessage(AGENT_MESSAGE.signRequest, string(blob), string(data), uint32(0));

/**
 * Parses the response to {@link identitiesRequest}.
 * @returns public keys in SSH's encoding
 * @throws `denied` if the agent refuses; `invalid` for another response
 */
export function parseIdentitiesAnswer(message: Buffer): readonly Buffer[] {
  const reader = bodyOf(message, AGENT_MESSAGE.identitiesAnswer);
  const blobs: Buffer[] = [];
  for (let left = reader.uint32(); left > 0; left--) {
    blobs.push(reader.string());
    // The comment is any text that the agent chooses.
    reader.string();
  }
  reader.end();
  return blobs;
}

/**
 * Parses the response to {@link signRequest}.
 * @returns signature with the name of its algorithm, in SSH's encoding
 * @throws as {@link parseIdentitiesAnswer}
 */
export function parseSignAnswer(message: Buffer): Buffer {
  const reader = bodyOf(message, AGENT_MESSAGE.signResponse);
  const signature = reader.string();
  reader.end();
  return signature;
}

function bodyOf(message: Buffer, wanted: number): SshReader {
  const reader = new SshReader(message, 'the response of the ssh-agent');
  const type = reader.byte();
  if (type === AGENT_MESSAGE.failure) throw denied('the ssh-agent refused the request');
  if (type !== wanted) throw invalid(`the ssh-agent sent a response of the unexpected type ${type}`);
  return reader;
}
