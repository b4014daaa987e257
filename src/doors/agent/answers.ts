import { unavailable } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { type Outcome, resultOf } from '../../operations/declaration/operation.ts';

/** Extracts members from responses, which may come from a foreign server. */

/**
 * Returns a text member.
 * @throws `unavailable` if the response lacks it
 */
export function memberOf(answer: Outcome<unknown>, member: string): string {
  const data = resultOf(answer);
  const text = isObject(data) ? data[member] : undefined;
  if (typeof text === 'string') return text;
  throw unavailable(`unexpected response: no ${member}`);
}

/**
 * Returns the plaintext.
 * @throws as `memberOf`
 */
export const plaintextIn = (answer: Outcome<unknown>): Buffer =>
  Buffer.from(memberOf(answer, 'plaintext'), 'base64');

/**
 * Returns the signature without the prefix with its version.
 * @throws as `memberOf`
 */
export function signatureIn(answer: Outcome<unknown>, encoding: 'base64' | 'base64url' = 'base64'): Buffer {
  const text = memberOf(answer, 'signature');
  return Buffer.from(text.slice(text.lastIndexOf(':') + 1), encoding);
}
