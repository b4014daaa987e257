import { beforeEach, describe, expect, it } from 'vitest';
import type { JwtPorts, JwtSettings } from '../../../../src/access/methods/jwt/documents.ts';
import { jwtMounts } from '../../../../src/access/methods/jwt/mount-type.ts';
import { writeRole } from '../../../../src/access/methods/jwt/roles.ts';
import { systemRandom } from '../../../../src/ground/random.ts';
import { Mounts } from '../../../../src/mounts/mounts.ts';
import { refused } from '../../../refusal.ts';
import { openRoom } from '../../room.ts';

let room: JwtPorts;
beforeEach(async () => {
  const { store, clock } = await openRoom();
  const mount = await new Mounts(store, systemRandom, jwtMounts).add('jwt', 'auth/jwt');
  room = { store, clock, mount };
});

interface Given {
  readonly settings?: Partial<JwtSettings>;
  readonly token?: object;
  readonly roleType?: string;
}

const write = ({ settings = {}, token = {}, roleType = 'jwt' }: Given) =>
  writeRole(room, 'r', {
    roleType,
    boundClaimsType: '',
    callbackMode: undefined,
    settings: { user_claim: 'sub', ...settings },
    token,
  });

const UNBOUND = 'must have at least one bound constraint when creating/updating a role';
const NO_REDIRECT = "'allowed_redirect_uris' must be set if 'role_type' is 'oidc' or unspecified.";

describe('a role of tokens that an issuer signs', () => {
  it.each<[string, Given]>([
    ['an audience', { settings: { bound_audiences: ['app'] } }],
    ['a subject', { settings: { bound_subject: 'me' } }],
    ['a claim', { settings: { bound_claims: { team: 'blue' } } }],
    ['networks of its tokens', { token: { token_bound_cidrs: ['10.0.0.0/8'] } }],
  ])('is bound enough by %s alone', async (_, given) => {
    expect(await write(given)).toEqual([]);
  });

  it.each<[string, Given, string]>([
    ['bound to nothing', {}, UNBOUND],
    [
      'bound to empty lists',
      { settings: { bound_audiences: [], bound_claims: {} }, token: { token_bound_cidrs: [] } },
      UNBOUND,
    ],
    ['for browsers that leads back nowhere', { roleType: 'oidc' }, NO_REDIRECT],
    ['for browsers by default', { roleType: '' }, NO_REDIRECT],
    [
      'with metadata that nobody has',
      { settings: { bound_subject: 'me', oauth2_metadata: ['id_token', 'password'] } },
      'Unrecognized oauth2 metadata name password',
    ],
    [
      'whose tokens have a longer period than any may have',
      { settings: { bound_subject: 'me' }, token: { token_period: 768 * 3600 + 1 } },
      `'period' of '"768h0m1s"' is greater than the backend's maximum lease TTL of '"768h0m0s"'`,
    ],
  ])('is none that is %s', async (_, given, message) => {
    expect(await refused(write(given))).toMatchObject({ kind: 'invalid', message });
  });

  it('may have all the metadata there is, and the longest period there is', async () => {
    const oauth2_metadata = ['access_token', 'id_token', 'refresh_token'];
    const settings = { bound_subject: 'me', oauth2_metadata };
    expect(await write({ settings, token: { token_period: 768 * 3600 } })).toEqual([]);
    room = { ...room, mount: { ...room.mount, config: { max_lease_ttl: 3600 } } };
    expect(await write({ settings, token: { token_period: 3600 } })).toEqual([]);
    const { message } = await refused(write({ settings, token: { token_period: 3601 } }));
    expect(message).toContain("greater than the backend's maximum lease TTL");
  });

  it('for browsers needs nothing but where it leads back to', async () => {
    const settings = { allowed_redirect_uris: ['https://example.org/'] };
    expect(await write({ settings, roleType: 'oidc' })).toEqual([]);
    expect(await write({ settings, roleType: '' })).toEqual([]);
  });
});
