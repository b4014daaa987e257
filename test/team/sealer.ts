import { systemRandom } from '../../src/ground/random.ts';
import { ArmorSealer } from '../../src/team/armor.ts';

/** Encrypts to keys that need no plugin. */
export const sealer = new ArmorSealer(systemRandom, {
  run: () => {
    throw new RangeError('no plugin is run here');
  },
});
