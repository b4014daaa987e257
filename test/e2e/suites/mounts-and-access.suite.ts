import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Suite } from './index.ts';

export const mountsAndAccessSuite: Suite = (here) => {
  it('gives each mount its own keys and its own dialect', async () => {
    await here().ok('mounts add teams/payments --dialect vault');
    expect((await here().ok('mounts list')).split('\n')).toEqual(['teams/payments/', 'transit/']);
    expect(await here().ok('transit encrypt shared x --mount teams/payments')).toMatch(/^vault:v1:/);
    expect(await here().ok('transit encrypt shared x')).toMatch(/^service:v1:/);
    const ciphertext = await here().ok('transit encrypt shared x');
    await here().refused(`transit decrypt shared ${ciphertext} --mount teams/payments`, 4);
    expect(await here().with({ COFFER_MOUNT: 'teams/payments' }).ok('transit keys list')).toBe('shared');
  });

  it('moves a mount with its keys', async () => {
    await here().ok('mounts add old/place');
    const ciphertext = await here().ok('transit encrypt kept hello --mount old/place');
    await here().ok('mounts move old/place new/place');
    await here().refused('transit keys list --mount old/place', 3);
    expect(await here().ok(`transit decrypt kept ${ciphertext} --mount new/place`)).toBe('hello');
    await here().ok('mounts remove new/place --yes');
  });

  it('reads, writes, lists and deletes what a path of the API names', async () => {
    await here().ok('write transit/keys/by-path type=ed25519');
    expect(await here().ok('read transit/keys/by-path --field type')).toBe('ed25519');
    expect((await here().ok('list transit/keys')).split('\n')).toContain('by-path');
    await here().refused('delete transit/keys/by-path --yes', 1);
    await here().ok('write transit/keys/by-path/config -', { input: '{"deletion_allowed": true}' });
    writeFileSync(here().file('input'), 'aGVsbG8=');
    const signature = await here().ok('write transit/sign/by-path input=@input --field signature');
    const verdict = await here().json([
      'write',
      'transit/verify/by-path',
      'input=aGVsbG8=',
      `signature=${signature}`,
    ]);
    expect(verdict).toEqual({ valid: true });
    await here().refused('delete transit/keys/by-path', 2);
    await here().ok('delete transit/keys/by-path --yes');
    await here().refused('read transit/keys/by-path', 3);
    await here().refused('read nowhere/at/all', 3);
    expect(await here().refused('write transit/keys/by-path @absent', 2)).toContain(
      'KEY=VALUE: cannot read absent',
    );
  });

  it('takes the paths below sys/ of what needs no key', async () => {
    // FIPS 180-4, example of SHA-256
    const sum = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(await here().ok('write sys/tools/hash input=YWJj --field sum')).toBe(sum);
    expect(await here().ok('write sys/tools/random/8 format=hex --field random_bytes')).toMatch(
      /^[0-9a-f]{16}$/,
    );
  });

  it('removes a mount with every key in it, after a yes', async () => {
    expect(await here().refused('mounts remove teams/payments', 2)).toContain('--yes');
    await here().ok('mounts remove teams/payments --yes');
    await here().refused('transit keys list --mount teams/payments', 3);
    expect(await here().ok('transit keys list')).toBe('shared');
  });

  it('writes, reads, lists and deletes policies', async () => {
    writeFileSync(here().file('clerk.hcl'), 'path "transit/encrypt/*" {\n  capabilities = ["update"]\n}\n');
    await here().ok('policy write clerk clerk.hcl');
    expect((await here().ok('policy list')).split('\n')).toContain('clerk');
    expect(await here().ok('policy read clerk')).toContain('transit/encrypt/*');
    await here().ok('policy write piped -', { input: '{"path":{"transit/keys":{"capabilities":["list"]}}}' });
    expect(await here().ok('policy read piped')).toContain('transit/keys');
    await here().ok('policy delete clerk --yes');
    await here().refused('policy read clerk', 3);
  });

  it('issues tokens, shows and lists them, and revokes them', async () => {
    await here().ok('policy write reader -', {
      input: '{"path":{"transit/keys":{"capabilities":["list"]}}}',
    });
    const token = await here().ok('token create --policy reader --ttl 1h --display-name tests');
    expect(token).toMatch(/^\S{20,}$/);
    const shown = (await here().json(['token', 'lookup', token])) as Record<string, unknown>;
    expect(shown).toMatchObject({ policies: expect.arrayContaining(['reader']) });
    const accessor = String(shown['accessor']);
    expect((await here().ok('token list')).split('\n')).toContain(accessor);
    await here().ok(['token', 'revoke', token, '--yes']);
    expect((await here().ok('token list')).split('\n')).not.toContain(accessor);
    expect(await here().refused(['token', 'revoke', token, '--yes'], 3)).toContain('nothing was revoked');
  });

  it('issues batch tokens, which are in no list, and ends them by their path', async () => {
    const token = await here().ok('token create --policy reader --ttl 10m --type batch');
    expect(token).toMatch(/^b\.\S{100,}$/);
    const before = await here().ok('token list');
    expect(await here().json(['token', 'lookup', token])).toMatchObject({ type: 'batch', accessor: '' });
    expect(await here().refused(['token', 'revoke', token, '--yes'], 2)).toContain(
      'batch tokens cannot be revoked',
    );
    expect(await here().ok('token list')).toBe(before);
    await here().ok('token revoke-prefix auth/token/create/nowhere --yes');
    await here().ok(['token', 'lookup', token]);
    // Of a path of its own, so that the tokens of others stay.
    await here().ok(
      'token roles write jobs --token-type batch --orphan --no-renewable --allowed-policies reader',
    );
    const ofRole = await here().ok('token create-by-role jobs --ttl 10m');
    await here().ok('token revoke-prefix auth/token/create/jobs --yes');
    expect(await here().refused(['token', 'lookup', ofRole], 4)).toContain('unknown token (');
    await here().ok(['token', 'lookup', token]);
  });

  describe('bad input', () => {
    it.each([
      ['a mount path that is taken', 'mounts add transit', 6],
      ['a reserved mount path', 'mounts add sys/keys', 2],
      ['a dialect that there is not', 'mounts add other --dialect klingon', 2],
      ['a policy that there is not', 'policy read nowhere', 3],
      ['a duration that is none', 'token create --ttl soon', 2],
    ])('refuses %s', async (_, line, exitCode) => {
      await here().refused(line, exitCode);
    });

    it('refuses a policy that does not parse, and keeps the old one', async () => {
      await here().refused('policy write reader -', 2, { input: 'path {' });
      expect(await here().ok('policy read reader')).toContain('transit/keys');
    });
  });
};
