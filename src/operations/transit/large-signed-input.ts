/** Large inputs of sign and verify, apart from their parameters: verifying without a store loads no key types. */

import { refusedAs } from '../../ground/errors.ts';
import { DEFAULT_HASH, hashNamed } from '../../transit/hashing.ts';
import { keyTypeNamed } from '../../transit/key-types/index.ts';
import type { LargeInput, Runner } from '../declaration/operation.ts';

/**
 * Large inputs of sign and verify: if the key hashes its input first, the hash is sent instead, and the signature is
 * the same. For callers who may use but not read the key, the whole input is sent.
 */
export const largeSignedInput: LargeInput = {
  hint: 'the input must fit in memory; for larger files, use "coffer sign FILE --key NAME" and "coffer verify FILE"',
  async hash(values, runner) {
    const { name, hash_algorithm, algorithm, prehashed, hmac } = values;
    const hash = hashNamed(String(hash_algorithm || (algorithm ?? DEFAULT_HASH)));
    if (hash === undefined || prehashed || hmac !== undefined) return undefined;
    if (!(await signsHashes(runner, String(name)))) return undefined;
    return {
      algorithm: hash.nodeName,
      of: (digest) => ({ input: digest.toString('base64'), prehashed: true }),
    };
  },
};

async function signsHashes(runner: Runner, name: string): Promise<boolean> {
  const key = await runner.run('transit keys read', { name }).catch(refusedAs(undefined, 'denied'));
  const type = (key?.data as { readonly type?: unknown } | undefined)?.type;
  return keyTypeNamed(String(type))?.signing?.signsHashes === true;
}
