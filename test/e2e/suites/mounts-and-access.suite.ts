import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Suite } from './index.ts';

export const mountsAndAccessSuite: Suite = (here) => {
  it('gives each mount its own keys and its own dialect', () => {
    here().ok('mounts add teams/payments --dialect vault');
    expect(here().ok('mounts list').split('\n')).toEqual(['teams/payments/', 'transit/']);
    expect(here().ok('transit encrypt shared x --mount teams/payments')).toMatch(/^vault:v1:/);
    expect(here().ok('transit encrypt shared x')).toMatch(/^service:v1:/);
    const ciphertext = here().ok('transit encrypt shared x');
    here().refused(`transit decrypt shared ${ciphertext} --mount teams/payments`, 4);
    expect(here().with({ COFFER_MOUNT: 'teams/payments' }).ok('transit keys list')).toBe('shared');
  });

  it('moves a mount with its keys', () => {
    here().ok('mounts add old/place');
    const ciphertext = here().ok('transit encrypt kept hello --mount old/place');
    here().ok('mounts move old/place new/place');
    here().refused('transit keys list --mount old/place', 3);
    expect(here().ok(`transit decrypt kept ${ciphertext} --mount new/place`)).toBe('hello');
    here().ok('mounts remove new/place --yes');
  });

  it('reads, writes, lists and deletes what a path of the API names', () => {
    here().ok('write transit/keys/by-path type=ed25519');
    expect(here().ok('read transit/keys/by-path --field type')).toBe('ed25519');
    expect(here().ok('list transit/keys').split('\n')).toContain('by-path');
    here().refused('delete transit/keys/by-path', 2);
    here().refused('delete transit/keys/by-path --yes', 1);
    here().ok('write transit/keys/by-path/config -', { input: '{"deletion_allowed": true}' });
    writeFileSync(here().file('input'), 'aGVsbG8=');
    const signature = here().ok('write transit/sign/by-path input=@input --field signature');
    const verdict = here().json([
      'write',
      'transit/verify/by-path',
      'input=aGVsbG8=',
      `signature=${signature}`,
    ]);
    expect(verdict).toEqual({ valid: true });
    here().refused('delete transit/keys/by-path', 2);
    here().ok('delete transit/keys/by-path --yes');
    here().refused('read transit/keys/by-path', 3);
    here().refused('read nowhere/at/all', 3);
    expect(here().refused('write transit/keys/by-path @absent', 2)).toContain("KEY=VALUE: can't read absent");
  });

  it('takes the paths below sys/ of what needs no key', () => {
    // FIPS 180-4, example of SHA-256
    const sum = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(here().ok('write sys/tools/hash input=YWJj --field sum')).toBe(sum);
    expect(here().ok('write sys/tools/random/8 format=hex --field random_bytes')).toMatch(/^[0-9a-f]{16}$/);
  });

  it('removes a mount with every key in it, after a yes', () => {
    expect(here().refused('mounts remove teams/payments', 2)).toContain('--yes');
    here().ok('mounts remove teams/payments --yes');
    here().refused('transit keys list --mount teams/payments', 3);
    expect(here().ok('transit keys list')).toBe('shared');
  });

  it('writes, reads, lists and deletes policies', () => {
    writeFileSync(here().file('clerk.hcl'), 'path "transit/encrypt/*" {\n  capabilities = ["update"]\n}\n');
    here().ok('policy write clerk clerk.hcl');
    expect(here().ok('policy list').split('\n')).toContain('clerk');
    expect(here().ok('policy read clerk')).toContain('transit/encrypt/*');
    here().ok('policy write piped -', { input: '{"path":{"transit/keys":{"capabilities":["list"]}}}' });
    expect(here().ok('policy read piped')).toContain('transit/keys');
    here().ok('policy delete clerk --yes');
    here().refused('policy read clerk', 3);
  });

  it('issues tokens, shows and lists them, and revokes them', () => {
    here().ok('policy write reader -', { input: '{"path":{"transit/keys":{"capabilities":["list"]}}}' });
    const token = here().ok('token create --policy reader --ttl 1h --display-name tests');
    expect(token).toMatch(/^\S{20,}$/);
    const shown = here().json(['token', 'lookup', token]) as Record<string, unknown>;
    expect(shown).toMatchObject({ policies: expect.arrayContaining(['reader']) });
    const accessor = String(shown['accessor']);
    expect(here().ok('token list').split('\n')).toContain(accessor);
    here().ok(['token', 'revoke', token, '--yes']);
    expect(here().ok('token list').split('\n')).not.toContain(accessor);
  });

  it('issues batch tokens, which are in no list, and ends them by their path', () => {
    const token = here().ok('token create --policy reader --ttl 10m --type batch');
    expect(token).toMatch(/^b\.\S{100,}$/);
    const before = here().ok('token list');
    expect(here().json(['token', 'lookup', token])).toMatchObject({ type: 'batch', accessor: '' });
    expect(here().refused(['token', 'revoke', token, '--yes'], 2)).toContain(
      'batch tokens cannot be revoked',
    );
    expect(here().ok('token list')).toBe(before);
    here().ok('token revoke-prefix auth/token/create/nowhere --yes');
    here().ok(['token', 'lookup', token]);
    // Of a path of its own, so that the tokens of others stay.
    here().ok('token roles write jobs --token-type batch --orphan --no-renewable --allowed-policies reader');
    const ofRole = here().ok('token create-by-role jobs --ttl 10m');
    here().ok('token revoke-prefix auth/token/create/jobs --yes');
    expect(here().refused(['token', 'lookup', ofRole], 4)).toContain('bad token');
    here().ok(['token', 'lookup', token]);
  });

  describe('bad input', () => {
    it.each([
      ['a mount path that is taken', 'mounts add transit', 6],
      ['a reserved mount path', 'mounts add sys/keys', 2],
      ['a dialect that there is not', 'mounts add other --dialect klingon', 2],
      ['a policy that there is not', 'policy read nowhere', 3],
      ['a duration that is none', 'token create --ttl soon', 2],
    ])('refuses %s', (_, line, exitCode) => {
      here().refused(line, exitCode);
    });

    it('refuses a policy that does not parse, and keeps the old one', () => {
      here().refused('policy write reader -', 2, { input: 'path {' });
      expect(here().ok('policy read reader')).toContain('transit/keys');
    });
  });
};
