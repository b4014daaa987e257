import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Runs the garbage collector now. A key in OpenSSL's memory is overwritten when its object is collected, and on a
 * server that was just sealed nothing else would trigger that soon.
 * @see docs/decisions/0095
 */
export function collectKeys(): void {
  // Node has no function for it; the flag adds one to contexts created from here on.
  setFlagsFromString('--expose-gc');
  const collect: (how: object) => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
