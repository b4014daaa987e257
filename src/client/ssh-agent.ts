import type { KeyObject } from 'node:crypto';
import { ByteQueue } from '../ground/byte-queue.ts';
import { denied, expected, unavailable } from '../ground/errors.ts';
import { inTime } from '../ground/pause.ts';
import {
  identitiesRequest,
  parseIdentitiesAnswer,
  parseSignAnswer,
  signRequest,
  takeMessage,
} from '../signatures/ssh-agent-messages.ts';
import { sshBlob } from '../signatures/ssh-key.ts';
import { parseWireSignature, verifyWireSignature } from '../signatures/ssh-signature.ts';
import { AT_ONCE_MS, connected } from './agent.ts';

/**
 * Client of the user's ssh-agent. It is another program, maybe on another machine, so nothing that it answers is
 * believed. Each request has a connection of its own.
 */

/** Timeout in milliseconds for a signature, which the user may have to confirm. */
const CONFIRMED_WITHIN_MS = 120_000;

const CHECK = 'check SSH_AUTH_SOCK, and whether "ssh-add -l" lists your keys';

/**
 * Lists the keys of an agent.
 * @param path socket
 * @returns public keys in SSH's encoding; undefined if no agent listens there
 * @throws `unavailable` if it does not respond, or not as an agent does
 */
export async function sshAgentKeys(
  path: string,
  withinMs = AT_ONCE_MS,
): Promise<readonly Buffer[] | undefined> {
  const answer = await asked(path, identitiesRequest, withinMs);
  return answer === undefined ? undefined : parsed(answer, parseIdentitiesAnswer);
}

/**
 * Has an agent sign.
 * @param path socket
 * @param key public key
 * @returns raw signature, which was verified
 * @throws `denied` if the agent refuses; `unavailable` if it does not respond, or its signature is wrong
 */
export async function signWithSshAgent(
  path: string,
  key: KeyObject,
  data: Buffer,
  withinMs = CONFIRMED_WITHIN_MS,
): Promise<Buffer> {
  const answer = await asked(path, signRequest(sshBlob(key), data), withinMs);
  if (answer === undefined) throw unavailable('no ssh-agent is listening at SSH_AUTH_SOCK', { hint: CHECK });
  const signature = parsed(answer, (message) => {
    const found = parseWireSignature(parseSignAnswer(message));
    return verifyWireSignature(key, found, data) ? found.bytes : undefined;
  });
  if (signature !== undefined) return signature;
  throw unavailable('the signature of the ssh-agent does not match the key', { hint: CHECK });
}

/** Parses a response. Malformed ones are the agent's mistake, not the user's. */
function parsed<T>(message: Buffer, parse: (message: Buffer) => T): T {
  try {
    return parse(message);
  } catch (error) {
    const refusal = expected(error);
    if (refusal.kind === 'denied') {
      throw denied('the ssh-agent refused to sign', {
        hint: 'if the ssh-agent is locked, run "ssh-add -X"; otherwise retry, and confirm the request',
      });
    }
    throw unavailable(`the ssh-agent gave no valid response: ${refusal.message}`, { hint: CHECK });
  }
}

/** Sends a request, and returns the response; undefined if no agent listens. */
async function asked(path: string, request: Buffer, withinMs: number): Promise<Buffer | undefined> {
  const socket = await connected(path);
  if (socket === undefined) return undefined;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const fail = (what: string): void => reject(unavailable(`the ssh-agent ${what}`, { hint: CHECK }));
  const come = new ByteQueue();
  socket.on('data', (bytes) => {
    come.add(bytes);
    try {
      const message = takeMessage(come);
      if (message !== undefined) resolve(message);
    } catch {
      fail('gave no valid response');
    }
  });
  socket.on('close', () => fail('closed the connection without a complete response'));
  socket.write(request);
  const answer = inTime(promise, withinMs, () => {
    fail(`did not respond within ${Math.ceil(withinMs / 1000)} seconds`);
    return promise;
  });
  return answer.finally(() => socket.destroy());
}
