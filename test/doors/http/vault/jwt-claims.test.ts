import { describe, expect, it } from 'vitest';
import { githubClaims, gitlabClaims, kubernetesClaims } from '../../../servers/issuer-claims.ts';
import { type Claims, nowSeconds } from '../../../servers/signing-key.ts';
import { jwtWorld, T, tokenOf } from './jwt-world.ts';

const here = jwtWorld();

describe('the times of a token', () => {
  const good = async (claims: Claims, settings: object = {}) => {
    await here.world.role('timed', {
      clock_skew_leeway: 0,
      expiration_leeway: 0,
      not_before_leeway: 0,
      ...settings,
    });
    const { status, json } = await here.world.login(
      'timed',
      await tokenOf({ iat: undefined, nbf: undefined, exp: undefined, ...claims }),
    );
    return status === 200 ? 'good' : json.errors[0].replace(T, '');
  };
  const EXPIRED = 'invalid expiration time (exp) claim: token is expired';
  const EARLY = 'invalid not before (nbf) claim: token not yet valid';

  it.each([
    ['an end a moment ago', { exp: -30 }, {}, 'good'],
    ['an end a moment ago, where clocks are right', { exp: -30 }, { clock_skew_leeway: -1 }, EXPIRED],
    ['an end some time ago, where clocks are far apart', { exp: -200 }, { clock_skew_leeway: 300 }, 'good'],
    ['an issue alone', { iat: -200 }, {}, 'good'],
    ['an old issue alone', { iat: -215 }, {}, EXPIRED],
    ['an old issue alone, which is good for longer', { iat: -400 }, { expiration_leeway: 500 }, 'good'],
    ['an issue alone, which is good for no time', { iat: -70 }, { expiration_leeway: -1 }, EXPIRED],
    ['a beginning alone', { nbf: -100 }, {}, 'good'],
    ['an end far ahead alone', { exp: 400 }, {}, EARLY],
    [
      'an end far ahead alone, with a beginning before that',
      { exp: 400 },
      { not_before_leeway: '10m' },
      'good',
    ],
    ['fractions', { exp: 100.9, iat: -0.5 }, {}, 'good'],
  ])('are judged as the family does: %s', async (_, offsets, settings, verdict) => {
    const now = nowSeconds();
    const claims = Object.fromEntries(Object.entries(offsets).map(([name, offset]) => [name, now + offset]));
    expect(await good(claims, settings)).toBe(verdict);
  });
});

describe('the claims that a role binds', () => {
  const claims = {
    repository: 'acme/app',
    n: 5,
    f: 5.7,
    yes: true,
    list: ['a', 'b'],
    numbers: [5],
    o: { 'a/b': { '~': 'deep' } },
    e: [],
  };
  const missing = (name: string) => `error validating claims: claim "${name}" is missing`;
  const mismatch = (name: string) =>
    `error validating claims: claim "${name}" does not match any associated bound claim values`;

  it.each([
    [{ repository: 'acme/app' }, 'string', 'good'],
    [{ repository: ['acme/other', 'acme/app'] }, 'string', 'good'],
    [{ repository: 'acme/*' }, 'string', mismatch('repository')],
    [{ repository: 'acme/*' }, 'glob', 'good'],
    [{ repository: ['*/lib', '*me*p'] }, 'glob', 'good'],
    [{ repository: 'acme?app' }, 'glob', mismatch('repository')],
    [{ repository: 'acme/app', n: 6 }, 'string', mismatch('n')],
    [{ nosuch: 'x' }, 'string', missing('nosuch')],
    [{ n: 5, f: 5, yes: true }, 'string', 'good'],
    [{ n: '5' }, 'string', mismatch('n')],
    [{ yes: 'true' }, 'string', mismatch('yes')],
    [{ numbers: [5] }, 'string', mismatch('numbers')],
    [{ n: [4, 5] }, 'string', 'good'],
    [{ f: 5.7 }, 'string', mismatch('f')],
    [{ n: 1e20 }, 'string', mismatch('n')],
    [
      { n: { a: 1 } },
      'string',
      'error validating claims: bound claim is not a string, bool, int or list: map[a:1]',
    ],
    [{ list: ['x', 'b'] }, 'string', 'good'],
    [{ list: 'c*' }, 'glob', mismatch('list')],
    [{ '/o/a~1b/~0': 'deep', '/list/1': 'b' }, 'string', 'good'],
    [{ '/o/nosuch/x': 'deep' }, 'string', missing('/o/nosuch/x')],
    [{ e: 'a' }, 'string', mismatch('e')],
    [
      { o: 'a' },
      'string',
      'error validating claims: received claim is not a string, bool, int or list: map[a/b:map[~:deep]]',
    ],
  ])('as %j, compared as %s: %s', async (bound_claims, bound_claims_type, verdict) => {
    expect((await here.world.role('bound', { bound_claims, bound_claims_type })).status).toBe(204);
    const { status, json } = await here.world.login('bound', await tokenOf(claims));
    expect(status === 200 ? 'good' : json.errors[0]).toBe(verdict);
  });

  it('name policies where the role says so, and only by texts', async () => {
    await here.world.role('teams', {
      token_policies: ['team-{{.team}}', 'in-{{ .o.place }}'],
      token_policies_template_claims: true,
    });
    const good = await here.world.login('teams', await tokenOf({ team: 'Red', o: { place: 'x' } }));
    expect(good.json.auth.policies).toEqual(['default', 'in-x', 'team-red']);
    const failed = 'failed to template policy [0]: the claim is not a string';
    expect(await here.world.refusalOf('teams', await tokenOf({ team: 1, o: { place: 'x' } }))).toBe(failed);
    await here.world.role('boss', { token_policies: ['{{.team}}'], token_policies_template_claims: true });
    expect(await here.world.refusalOf('boss', await tokenOf({ team: ' ROOT' }))).toBe(
      'auth methods cannot create root tokens',
    );
  });

  it('may name the caller by a pointer', async () => {
    await here.world.role('pointed', { user_claim: '/who/login', user_claim_json_pointer: true });
    const { json } = await here.world.login('pointed', await tokenOf({ who: { login: 'ann' } }));
    const own = await here.world.anybody('GET', 'auth/token/lookup-self', { token: json.auth.client_token });
    expect(own.json.data.display_name).toBe('jwt-ann');
  });
});

describe('tokens of pipelines and clusters', () => {
  it.each([
    ['GitHub', githubClaims, { repository_id: '74', ref: 'refs/heads/main' }, { repository_id: '75' }],
    [
      'GitLab',
      gitlabClaims,
      { project_id: '20', ref_protected: 'true', groups_direct: 'my-group' },
      { ref_protected: 'false' },
    ],
    [
      'Kubernetes',
      kubernetesClaims,
      { '/kubernetes.io/namespace': 'ns' },
      { 'kubernetes.io': { namespace: 'other' } },
    ],
  ])('of %s let in the job that a role is for, and no other', async (name, claims, bound_claims, other) => {
    const bound_audiences = claims['aud'];
    await here.world.role(name, { bound_audiences, bound_claims, token_policies: ['release'] });
    const { json } = await here.world.login(name, await tokenOf(claims));
    expect(json.auth.policies).toEqual(['default', 'release']);
    expect(await here.world.refusalOf(name, await tokenOf({ ...claims, ...other }))).toMatch(
      'does not match any associated',
    );
  });

  it.each(['oidc', 'kubernetes'])('let in at a mount of the type %s', async (type) => {
    await here.world.enable(type, type);
    await here.world.configure(type);
    const body = { role_type: 'jwt', user_claim: 'sub', bound_audiences: kubernetesClaims['aud'] };
    await here.world.root('POST', `auth/${type}/role/Demo`, body);
    const { auth } = (await here.world.login('demo', await tokenOf(kubernetesClaims), type)).json;
    const account = {
      service_account_name: 'sa',
      service_account_namespace: 'ns',
      service_account_uid: '14ee3fa4-a7e2-420f-9f9a-dbc4507c3798',
    };
    expect(auth.metadata).toEqual({ ...(type === 'kubernetes' ? account : {}), role: 'demo' });
    expect((await here.world.root('LIST', `auth/${type}/role`)).json.data.keys).toEqual(['demo']);
    expect((await here.world.root('GET', 'sys/auth')).json.data[`${type}/`].type).toBe(type);
  });
});

describe('the claim of a role that is to hold groups', () => {
  const WARNING = expect.stringMatching(
    /^groups are not supported: groups_claim assigns no policies/,
  ) as unknown;

  it('is kept and shown, with a warning that it gives nobody anything', async () => {
    const { status, json } = await here.world.role('grouped', { groups_claim: '/teams/names' });
    expect([status, json.warnings]).toEqual([200, [WARNING]]);
    const shown = async () => (await here.world.root('GET', 'auth/jwt/role/grouped')).json.data.groups_claim;
    expect(await shown()).toBe('/teams/names');
    // What a write does not mention stays.
    expect((await here.world.role('grouped')).status).toBe(204);
    expect(await shown()).toBe('/teams/names');
    expect((await here.world.role('grouped', { groups_claim: '' })).status).toBe(204);
    expect(await shown()).toBe('');
  });

  it.each([
    ['names in a list', { groups: ['a', 'b'] }, 'good'],
    ['one name', { groups: 'a' }, 'good'],
    ['no names', { groups: [] }, 'good'],
    ['nothing', {}, 'failed to fetch groups: "groups" claim not found in token'],
    ['an object', { groups: { a: 1 } }, '"groups" claim could not be converted to string list'],
    ['a number alone', { groups: 5 }, 'value 5 in groups claim could not be parsed as string'],
    ['a null', { groups: null }, 'failed to fetch groups: "groups" claim not found in token'],
    ['a number among names', { groups: ['a', 1] }, 'value 1 in groups claim could not be parsed as string'],
  ])('lets in or refuses a token with %s there, and gives no policy', async (_, claims, verdict) => {
    await here.world.role('grouped', { groups_claim: 'groups', token_policies: 'mine' });
    const { status, json } = await here.world.login('grouped', await tokenOf(claims));
    expect(status === 200 ? 'good' : json.errors[0]).toBe(verdict);
    if (status === 200) expect(json.auth.policies).toEqual(['default', 'mine']);
  });

  it('counts for nothing where the role names none', async () => {
    await here.world.role('ungrouped');
    expect((await here.world.login('ungrouped', await tokenOf({ groups: { a: 1 } }))).status).toBe(200);
  });
});
