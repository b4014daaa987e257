import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { lengthPrefixed } from '../../ground/bytes.ts';
import type { UnlockTimes } from './calls.ts';

/*
 * Mutual proof of an agent and a command that both have the root key of the same store and generation, without sending
 * it: an attacker who listens in place of an agent learns nothing, and a caller without a secret of the store cannot
 * reset the timeouts.
 * @see docs/decisions/0281
 */

const NONCE_BYTES = 16;

export const freshNonce = (): string => randomBytes(NONCE_BYTES).toString('base64url');

/** Computes the agent's response to the nonce of a command, including a nonce of its own. */
export const agentProof = (key: KeyObject, asked: string, own: string): string =>
  proofOf(key, 'agent', asked, own);

/** Computes the command's response to that, for the requested timeouts. */
export const ownerProof = (key: KeyObject, agents: string, { idleMs, forMs }: UnlockTimes): string =>
  proofOf(key, 'owner', agents, String(idleMs), String(forMs));

const proofOf = (key: KeyObject, ...fields: readonly string[]): string =>
  createHmac('sha256', key)
    .update(lengthPrefixed(...fields))
    .digest('base64url');

/** Compares a received proof with the expected one, in constant time. */
export function isProof(sent: unknown, expected: string): boolean {
  if (typeof sent !== 'string' || sent.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(sent, 'latin1'), Buffer.from(expected, 'latin1'));
}
