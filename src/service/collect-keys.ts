import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Has the collector run at once. A key in OpenSSL's memory is overwritten when the object that stood for it is
 * collected, and on a server that was just sealed nothing else would make that happen soon.
 * @see docs/decisions/0095
 */
export function collectKeys(): void {
  // Node has no function for it; the flag gives one to contexts that are made from here on.
  setFlagsFromString('--expose-gc');
  const collect: (how: object) => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
