import { createHash } from 'node:crypto';
import { HASHES } from './hashes.ts';
import { ask, b64, expectLike, key, member, outcomeOf, type Params } from './row.ts';
import type { Side } from './sides.ts';

export const PLAIN = b64('told');
export const CONTEXT = b64('a context');
export const ed = key('ed25519');
export const p256 = key('ecdsa-p256');
export const rsa = key('rsa-2048');
export const derived = key('ed25519', { derived: true });
export const error = (item: unknown): boolean => typeof (item as { error?: unknown }).error === 'string';
export const signatureBy = (name: unknown, more: Params = {}) =>
  member('sign', { name, input: PLAIN, ...more }, 'signature');

/** A signature that is made with these parameters is verified with them, and not with others. */
export async function agrees(side: Side, name: string, how: Params, other?: Params): Promise<void> {
  const signature = await signatureBy(name, how)(side);
  expectLike(await ask(side, 'verify', { name, input: PLAIN, signature, ...how }), { valid: true });
  if (other === undefined) return;
  const outcome = await outcomeOf(side, 'verify', { name, input: PLAIN, signature, ...other });
  if ('data' in outcome) expectLike(outcome.data, { valid: false });
}

export const digestOf = (algorithm: string): string =>
  createHash(HASHES[algorithm] ?? '')
    .update('told')
    .digest('base64');
