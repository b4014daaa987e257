import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { local, type Place, removePlace } from './harness.ts';

let here: Place;

beforeEach(async () => {
  here = (await local.start()).place;
});
afterEach(() => removePlace(here));

describe('a wrong secret in a variable', () => {
  it('is said to be wrong, with the name of the variable', async () => {
    const environment = { COFFER_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') };
    expect(await here.refused('transit keys list', 4, { environment })).toContain(
      '(the value of COFFER_MASTER_KEY is wrong, or belongs to another store (use --store or COFFER_STORE); nothing else unlocks it: ',
    );
  });
});
