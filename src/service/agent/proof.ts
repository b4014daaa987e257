import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { lengthPrefixed } from '../../ground/bytes.ts';
import type { Times } from './calls.ts';

/*
 * How an agent and a command show one another that each has the root key of the same store and generation, and send none: whoever listens in
 * the place of an agent learns nothing, and whoever has no secret of the store starts no times anew.
 * @see docs/decisions/0281
 */

const NONCE_BYTES = 16;

export const freshNonce = (): string => randomBytes(NONCE_BYTES).toString('base64url');

/** What an agent answers to the nonce of a command, beside a nonce of its own. */
export const agentProof = (key: KeyObject, asked: string, own: string): string =>
  proofOf(key, 'agent', asked, own);

/** What a command answers to that: it wants these times. */
export const ownerProof = (key: KeyObject, agents: string, { idleMs, forMs }: Times): string =>
  proofOf(key, 'owner', agents, String(idleMs), String(forMs));

const proofOf = (key: KeyObject, ...fields: readonly string[]): string =>
  createHmac('sha256', key)
    .update(lengthPrefixed(...fields))
    .digest('base64url');

/** Whether a proof that was sent is the one that is expected. */
export function isProof(sent: unknown, expected: string): boolean {
  if (typeof sent !== 'string' || sent.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(sent, 'latin1'), Buffer.from(expected, 'latin1'));
}
