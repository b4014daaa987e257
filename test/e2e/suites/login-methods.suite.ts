import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { githubClaims } from '../../servers/issuer-claims.ts';
import { nowSeconds, signingKey, signToken } from '../../servers/signing-key.ts';
import type { Suite } from './index.ts';

export const loginMethodsSuite: Suite = (here) => {
  it('are enabled at their name or elsewhere, listed, tuned and disabled', async () => {
    const place = here();
    expect(await place.ok('auth list')).toBe('token/');
    await place.ok('auth enable userpass');
    await place.ok('auth enable approle --path ci/jobs --description pipelines');
    expect(await place.ok('auth list')).toBe('ci/jobs/\ntoken/\nuserpass/');
    await place.ok('auth tune ci/jobs --max-lease-ttl 8h');
    expect(await place.json('read sys/mounts/auth/ci/jobs/tune')).toMatchObject({
      max_lease_ttl: 28_800,
      description: 'pipelines',
      token_type: 'default-service',
    });
    expect(await place.refused('auth enable userpass', 6)).toContain(
      'userpass is already enabled at userpass/',
    );
    await place.ok('auth enable userpass --if-missing');
    await place.ok('auth disable userpass --yes');
    await place.ok('auth disable ci/jobs --yes');
    expect(await place.ok('auth list')).toBe('token/');
  });

  it('have roles and users, which any path of the API reads and writes', async () => {
    const place = here();
    await place.ok('auth enable approle');
    await place.ok('write auth/approle/role/release token_policies=release token_ttl=10m');
    expect(await place.json('read auth/approle/role/release')).toMatchObject({ token_ttl: 600 });
    const { role_id } = (await place.json('read auth/approle/role/release/role-id')) as { role_id: string };
    const { secret_id } = (await place.json([
      'write',
      'auth/approle/role/release/secret-id',
      'num_uses=1',
    ])) as {
      secret_id: string;
    };
    const login = ['write', 'auth/approle/login', `role_id=${role_id}`, `secret_id=${secret_id}`];
    expect(await place.json(login)).toMatchObject({ policies: ['default', 'release'], lease_duration: 600 });
    expect((await place.run(login)).stderr).toContain('invalid role or secret ID');
    await place.ok('auth disable approle --yes');
  });

  it('have commands for the roles of AppRole and their secret IDs, wherever it is mounted', async () => {
    const place = here();
    await place.ok('auth enable approle --path ci/jobs');
    const at = '--path ci/jobs';
    expect(await place.ok(`auth approle list ${at}`)).toBe('');
    await place.ok(
      `auth approle write deploy --token-policies deploy other --token-ttl 15m --secret-id-num-uses 2 ${at}`,
    );
    expect(await place.ok(`auth approle list ${at}`)).toBe('deploy');
    expect(await place.json(`auth approle read deploy ${at}`)).toMatchObject({
      token_policies: ['deploy', 'other'],
      token_ttl: 900,
      bind_secret_id: true,
    });
    expect(await place.ok(`auth approle role-id deploy ${at}`)).toMatch(/^[0-9a-f-]{36}$/);
    await place.ok(`auth approle secret-id deploy --num-uses 1 --ttl 10m --out secret-id ${at}`);
    expect(await place.json(`auth approle lookup-secret-id deploy --in secret-id ${at}`)).toMatchObject({
      secret_id_num_uses: 1,
      secret_id_ttl: 600,
    });
    const accessor = await place.ok(`auth approle list-secret-ids deploy ${at}`);
    await place.ok(`auth approle custom-secret-id deploy ${at}`, { input: 'chosen' });
    expect(await place.ok(`auth approle lookup-accessor deploy ${accessor} ${at}`)).toContain(accessor);
    await place.ok(`auth approle destroy-accessor deploy ${accessor} --yes ${at}`);
    expect(await place.refused(`auth approle lookup-accessor deploy ${accessor} ${at}`, 3)).toContain(
      `no secret ID with the accessor "${accessor}"`,
    );
    await place.ok(`auth approle destroy-secret-id deploy --yes ${at}`, { input: 'chosen' });
    expect(await place.ok(`auth approle list-secret-ids deploy ${at}`)).toBe('');
    expect(await place.refused('auth approle read deploy', 3)).toContain('approle');
    await place.ok(`auth approle delete deploy --yes ${at}`);
    await place.ok('auth disable ci/jobs --yes');
  });

  it('have commands for users, whose passwords are never arguments', async () => {
    const place = here();
    await place.ok('auth enable userpass');
    expect(await place.refused('auth userpass write ada hunter2', 2)).toBe(
      'coffer: password: secrets cannot be passed as arguments: other users could see them (pass it on standard input (-) or with --in, or omit it to be prompted)',
    );
    // What is on standard input is that of a loop, perhaps.
    const create = 'auth userpass write ada --token-policies clerk';
    for (const input of ['', 'the next name\n'])
      expect(await place.refused(create, 2, { input })).toBe(
        'coffer: password: must provide either password or password_hash (use --in FILE, or write "-" before the options to read the password from standard input)',
      );
    expect(await place.refused('auth userpass write ada --token-policies clerk password=hunter2', 2)).toMatch(
      /^coffer: password: secrets cannot be passed as arguments: other users could see them \((?!.*hunter2)/,
    );
    await place.ok(create.replace(' --', ' - --'), { input: 'first one\n' });
    await place.ok('auth userpass write ada --token-ttl 8h', { input: 'the next name' });
    expect(await place.json('auth userpass read ada')).toMatchObject({
      token_policies: ['clerk'],
      token_ttl: 28_800,
    });
    await place.ok('auth userpass password ada', { input: 'second one' });
    expect(await place.ok('auth userpass list')).toBe('ada');
    await place.ok('auth userpass delete ada --yes');
    expect(await place.refused('auth userpass read ada', 3)).toContain('ada');
    await place.ok('auth disable userpass --yes');
  });

  it('have commands for those who come with signed tokens, and let them in', async () => {
    const place = here();
    const key = signingKey('RS256');
    writeFileSync(place.file('key.pem'), key.publicPem);
    await place.ok('auth enable kubernetes --path clusters/one');
    const at = '--path clusters/one';
    await place.ok(
      `auth jwt configure --jwt-validation-pubkeys @key.pem --bound-issuer https://issuer.example ${at}`,
    );
    expect(await place.json(`auth jwt config ${at}`)).toMatchObject({
      jwt_validation_pubkeys: [key.publicPem.trim()],
      status: 'valid',
    });
    await place.ok(
      `auth jwt write release --user-claim sub --bound-audiences https://coffer.example --bound-claims repository_id=74 ref=refs/tags/v* ref=refs/heads/* --bound-claims-type glob --claim-mappings actor=who --token-policies release --token-ttl 10m ${at}`,
    );
    expect(await place.ok(`auth jwt list ${at}`)).toBe('release');
    expect(await place.json(`auth jwt read release ${at}`)).toMatchObject({
      role_type: 'jwt',
      bound_claims: { repository_id: '74', ref: ['refs/tags/v*', 'refs/heads/*'] },
      claim_mappings: { actor: 'who' },
    });
    const claims = { ...githubClaims, iss: 'https://issuer.example', aud: 'https://coffer.example' };
    const jwt = await signToken(key, { ...claims, iat: nowSeconds() });
    const login = ['write', 'auth/clusters/one/login', 'role=release', `jwt=${jwt}`];
    expect(await place.json(login)).toMatchObject({
      policies: ['default', 'release'],
      lease_duration: 600,
      metadata: { role: 'release', who: 'octocat' },
    });
    const other = await signToken(key, { ...claims, repository_id: '75', iat: nowSeconds() });
    expect(
      (await place.run(['write', 'auth/clusters/one/login', 'role=release', `jwt=${other}`])).stderr,
    ).toContain('claim "repository_id" of the token has none of the values that the role allows');
    await place.ok(`auth jwt delete release --yes ${at}`);
    expect(await place.ok(`auth jwt list ${at}`)).toBe('');
    await place.ok('auth disable clusters/one --yes');
  });

  it('are joined by token roles', async () => {
    const place = here();
    await place.ok(
      'token roles write release --allowed-policies sign-releases --token-explicit-max-ttl 15m --orphan',
    );
    expect(await place.ok('token roles list')).toBe('release');
    expect(await place.json('token roles read release')).toMatchObject({
      allowed_policies: ['sign-releases'],
      orphan: true,
      token_explicit_max_ttl: 900,
    });
    const token = await place.ok('token create-by-role release --policy sign-releases --ttl 5m');
    expect(await place.json(`token lookup ${token}`)).toMatchObject({
      role: 'release',
      policies: ['default', 'sign-releases'],
    });
    await place.ok('token roles write release --no-orphan');
    expect(await place.json('token roles read release')).toMatchObject({ orphan: false });
    await place.ok('token roles delete release --yes');
    expect(await place.ok('token roles list')).toBe('');
  });

  it('are refused by a name that nobody knows, with those that there are', async () => {
    expect(await here().refused('auth enable ldap', 2)).toContain(
      'use one of approle, cert, jwt, oidc, kubernetes, userpass',
    );
  });
};
