import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { local, type Place, removePlace } from './harness.ts';

let here: Place;

beforeEach(async () => {
  here = (await local.start()).place;
});
afterEach(() => removePlace(here));

describe('-field of an answer with a token', () => {
  it.each([
    ['token', /^cfr\.\S+$/],
    ['client_token', /^cfr\.\S+$/],
    ['token_accessor', /^\S{10,}$/],
    ['token_duration', /^3600$/],
    ['token_policies', /^default$/],
  ])('takes the names of Vault: %s', async (field, value) => {
    const request = ['write', `-field=${field}`, 'auth/token/create', 'ttl=1h', 'policies=default'];
    expect(await here.ok(request)).toMatch(value);
  });

  it('names the fields that there are for any other', async () => {
    expect(await here.refused('write -field=tokn auth/token/create ttl=1h', 3)).toContain('client_token');
    await here.ok('transit keys create token');
    expect(await here.refused('read -field=token transit/keys/token', 3)).toContain('latest_version');
  });

  it('prints only the token with token create as well', async () => {
    expect(await here.ok('token create -field=token')).toMatch(/^cfr\.\S+$/);
    expect(await here.ok('token create -o raw')).toMatch(/^cfr\.\S+$/);
  });
});
