import { unavailable } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { type Outcome, resultOf } from '../../operations/declaration/operation.ts';

/** What doors take out of answers, which may come from a server that is not ours. */

/** @throws `unavailable` for an answer without it. */
export function memberOf(answer: Outcome<unknown>, member: string): string {
  const data = resultOf(answer);
  const text = isObject(data) ? data[member] : undefined;
  if (typeof text === 'string') return text;
  throw unavailable(`the answer has no ${member} in it`);
}

/** @throws as `memberOf`. */
export const plaintextIn = (answer: Outcome<unknown>): Buffer =>
  Buffer.from(memberOf(answer, 'plaintext'), 'base64');

/** The signature itself, without the prefix that tells the version. @throws as `memberOf`. */
export function signatureIn(answer: Outcome<unknown>, encoding: 'base64' | 'base64url' = 'base64'): Buffer {
  const text = memberOf(answer, 'signature');
  return Buffer.from(text.slice(text.lastIndexOf(':') + 1), encoding);
}
