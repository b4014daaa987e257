import { refusedAs } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Runner } from '../../operations/declaration/operation.ts';

/** Maximum number of keys whose type is looked up. */
const MOST_EXAMINED = 20;

/** Whether a key signs, and others can verify that with its public key. */
export async function isForSigning(runner: Runner, name: string): Promise<boolean> {
  const { data } = await runner.run('transit keys read', { name });
  return isObject(data) && data['supports_signing'] === true && data['derived'] !== true;
}

/** Returns the keys that sign; all keys if there are too many to look at each. */
export async function signingKeys(runner: Runner): Promise<readonly string[]> {
  const { data } = await runner.run('transit keys list', {});
  const names = isObject(data) && Array.isArray(data['keys']) ? data['keys'].map(String) : [];
  if (names.length > MOST_EXAMINED) return names;
  // A key that cannot be read now, for example because the token may only list it, may sign.
  const signs = await Promise.all(names.map((name) => isForSigning(runner, name).catch(refusedAs(true))));
  return names.filter((_, at) => signs[at]);
}
