import { describe, expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import type { Suite } from './index.ts';

/** The ten key types of the specification, and what each can do. */
const TYPES: readonly (readonly [type: string, encrypts: boolean, signs: boolean])[] = [
  ['aes128-gcm96', true, false],
  ['aes256-gcm96', true, false],
  ['chacha20-poly1305', true, false],
  ['ed25519', false, true],
  ['ecdsa-p256', false, true],
  ['ecdsa-p384', false, true],
  ['ecdsa-p521', false, true],
  ['rsa-2048', true, true],
  ['rsa-3072', true, true],
  ['rsa-4096', true, true],
];

export const keysSuite: Suite = (here) => {
  // Seconds are what large RSA keys take to be found.
  const quick = TYPES.filter(([type]) => isLong || !/^rsa-[34]/.test(type));

  it.each(quick)('creates a key of type %s and tells what it can do', async (type, encrypts, signs) => {
    const name = `type-${type}`;
    await here().ok(`transit keys create ${name} --type ${type}`);
    expect(await here().json(`transit keys read ${name}`)).toMatchObject({
      name,
      type,
      derived: false,
      exportable: false,
      deletion_allowed: false,
      supports_encryption: encrypts,
      supports_decryption: encrypts,
      supports_signing: signs,
    });
  });

  it('prints nothing for a change, unless it is asked to', async () => {
    expect(await here().ok('transit keys create quiet')).toBe('');
    expect(await here().ok('transit keys rotate quiet')).toBe('');
    expect(await here().ok('transit keys config quiet --exportable --yes')).toBe('');
    expect(await here().json('transit keys rotate quiet')).toMatchObject({
      name: 'quiet',
      latest_version: 3,
    });
    expect(await here().ok('transit keys create quiet -o raw')).toContain('latest_version\t3');
  });

  it('makes aes256-gcm96 keys unless told otherwise, and lists names in order', async () => {
    await here().ok('transit keys create zeta');
    await here().ok('transit keys create alpha');
    expect(await here().json('transit keys read zeta')).toMatchObject({ type: 'aes256-gcm96' });
    const names = (await here().ok('transit keys list')).split('\n');
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['alpha', 'zeta']));
    expect(await here().json('transit keys list')).toEqual({ keys: names });
  });

  it('shows the public key of each version of an asymmetric key', async () => {
    await here().ok('transit keys create pair --type ecdsa-p256');
    await here().ok('transit keys rotate pair --force');
    const { keys } = (await here().json('transit keys read pair')) as {
      keys: Record<string, { public_key: string }>;
    };
    expect(Object.keys(keys)).toEqual(['1', '2']);
    for (const { public_key } of Object.values(keys)) expect(public_key).toContain('BEGIN PUBLIC KEY');
  });

  it('shows the creation time of each version of a symmetric key as Unix seconds', async () => {
    await here().ok('transit keys create timed');
    const { keys } = (await here().json('transit keys read timed')) as { keys: Record<string, number> };
    expect(Math.abs((keys['1'] ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  });

  it('creates derived and convergent keys, and refuses convergent without derived', async () => {
    await here().ok('transit keys create conv --derived --convergent-encryption');
    expect(await here().json('transit keys read conv')).toMatchObject({
      derived: true,
      convergent_encryption: true,
    });
    await here().refused('transit keys create wrong --convergent-encryption', 2);
    expect((await here().run('transit keys read wrong')).exitCode).toBe(3);
  });

  it('rotates keys that encrypt; a signing key only with --force, and says so', async () => {
    await here().ok('transit keys create turning');
    await here().ok('transit keys rotate turning');
    await here().ok('transit keys rotate turning');
    expect(await here().json('transit keys read turning')).toMatchObject({ latest_version: 3 });
    await here().ok('transit keys create signer --type ed25519');
    expect((await here().run('transit keys rotate signer')).stderr).toContain('--force');
    expect(await here().json('transit keys read signer')).toMatchObject({ latest_version: 1 });
    await here().ok('transit keys rotate signer --force');
    expect(await here().json('transit keys read signer')).toMatchObject({ latest_version: 2 });
  });

  it('configures all five settings; two of them can only be switched on', async () => {
    await here().ok('transit keys create set');
    await here().ok('transit keys rotate set');
    await here().ok(
      'transit keys config set --min-decryption-version 2 --min-encryption-version 2 --deletion-allowed --exportable --allow-plaintext-backup --yes',
    );
    const settings = {
      min_decryption_version: 2,
      min_encryption_version: 2,
      deletion_allowed: true,
      exportable: true,
      allow_plaintext_backup: true,
    };
    expect(await here().json('transit keys read set')).toMatchObject(settings);
    await here().ok('transit keys config set --no-deletion-allowed');
    expect(await here().json('transit keys read set')).toMatchObject({
      ...settings,
      deletion_allowed: false,
    });
    await here().refused('transit keys config set --min-decryption-version 9', 2);
    expect(await here().json('transit keys read set')).toMatchObject({
      ...settings,
      deletion_allowed: false,
    });
  });

  it('trims only below both minimums, for good', async () => {
    await here().ok('transit keys create trimmed');
    const old = await here().ok('transit encrypt trimmed secret');
    await here().ok('transit keys rotate trimmed');
    await here().refused('transit keys trim trimmed --min-available-version 2 --yes', 2);
    await here().ok('transit keys config trimmed --min-decryption-version 2 --min-encryption-version 2');
    await here().ok('transit keys trim trimmed --min-available-version 2 --yes');
    const { keys } = (await here().json('transit keys read trimmed')) as { keys: object };
    expect(Object.keys(keys)).toEqual(['2']);
    await here().refused(`transit decrypt trimmed ${old}`, 2);
  });

  it('stops the use of a key without asking, and takes that back', async () => {
    await here().ok('transit keys create resting');
    const value = await here().ok('transit encrypt resting x');
    expect(await here().ok('transit keys soft-delete resting')).toBe('');
    expect(await here().refused(['transit', 'decrypt', 'resting', value], 1)).toContain('soft-deleted');
    expect(await here().ok('transit keys soft-delete-restore resting')).toBe('');
    expect(await here().ok(['transit', 'decrypt', 'resting', value])).toBe('x');
    await here().ok('delete transit/keys/resting/soft-delete');
    await here().ok('transit keys soft-delete-restore resting');
    for (const word of ['soft-delete', 'soft-delete-restore']) {
      expect(await here().refused(`transit keys ${word} nobody`, 3)).toContain('nobody');
    }
    for (const line of [
      'write transit/keys/soft-delete',
      'write transit/keys/soft-delete/config deletion_allowed=true',
    ])
      await here().ok(line);
    expect(await here().refused('delete transit/keys/soft-delete', 2)).toContain('--yes');
    await here().ok('delete transit/keys/soft-delete --yes');
  });

  it('deletes a key only when that was allowed, and only with a yes', async () => {
    await here().ok('transit keys create doomed');
    for (const line of ['transit keys delete doomed', 'transit keys delete doomed --yes'])
      expect(await here().refused(line, 1)).toContain('deletion');
    await here().ok('transit keys config doomed --deletion-allowed');
    expect(await here().refused('transit keys delete doomed', 2)).toContain('--yes');
    expect(await here().ok('transit keys delete doomed --yes')).toBe('');
    expect(await here().refused('transit keys read doomed', 3)).toContain('doomed');
  });

  it('says that encrypt created a key, once', async () => {
    const said = 'Created key zzz-fresh-zzz, which did not exist.\n';
    const encrypt = 'write transit/encrypt/zzz-fresh-zzz plaintext=aGVsbG8=';
    for (const line of ['transit encrypt zzz-fresh-zzz hello', encrypt]) {
      expect((await here().run(line)).stderr).toBe(said);
      expect((await here().run(line)).stderr).toBe('');
      await here().ok('transit keys config zzz-fresh-zzz --deletion-allowed');
      await here().ok('transit keys delete zzz-fresh-zzz --yes');
    }
  });

  describe('bad input', () => {
    it.each([
      ['an unknown type', 'transit keys create bad --type rot13', 2, '--type'],
      ['a name with illegal characters', ['transit', 'keys', 'create', 'a b'], 2, 'a b'],
      ['a name with a slash', 'transit keys create a/b', 2, 'a/b'],
      ['no name', 'transit keys create', 2, 'NAME'],
      ['an option that there is not', 'transit keys create bad --drived', 2, '--derived'],
      ['a command that there is not', 'transit keys crate bad', 2, 'create'],
      [
        'a number that is none',
        'transit keys trim bad --min-available-version two --yes',
        2,
        '--min-available-version',
      ],
      [
        'two flags that exclude each other',
        'transit keys config bad --deletion-allowed --no-deletion-allowed',
        2,
        '--no-deletion-allowed',
      ],
      ['a key that there is not', 'transit keys read nothing-here', 3, 'nothing-here'],
      ['a rotation of a key that there is not', 'transit keys rotate nothing-here', 3, 'nothing-here'],
      ['a mount that there is not', 'transit keys list --mount elsewhere', 3, 'elsewhere'],
    ])('refuses %s', async (_, line, exitCode, named) => {
      expect(await here().refused(line, exitCode)).toContain(named);
    });

    it('leaves nothing behind', async () => {
      const names = (await here().ok('transit keys list')).split('\n');
      expect(names.filter((name) => ['bad', 'a b', 'a/b', 'wrong'].includes(name))).toEqual([]);
    });
  });
};
