import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { local, type Place, removePlace } from './harness.ts';

let here: Place;

beforeEach(async () => {
  here = (await local.start()).place;
});
afterEach(() => removePlace(here));

describe('tags of a key', () => {
  it('are of the only organization if none is named', async () => {
    await here.ok('orgs create acme');
    await here.ok('transit keys create orders');
    await here.ok('transit keys tag orders urgent');
    expect(await here.ok('tags list --org acme')).toContain('urgent');
    await here.ok('transit keys untag orders urgent');
  });

  it('need the name of one of several, and say so without a word of HTTP', async () => {
    await here.ok('orgs create acme');
    await here.ok('orgs create other');
    await here.ok('transit keys create orders');
    expect(await here.refused('transit keys tag orders urgent', 2)).toBe(
      'coffer: --org: missing organization (use --org NAME or set COFFER_ORG)',
    );
  });
});
